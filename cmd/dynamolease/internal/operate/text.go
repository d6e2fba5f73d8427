package operate

import (
	"encoding/base64"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// maxShown is how much of a checkpoint is shown, in characters.
const maxShown = 40

// columns lines rows up, of which the first names the columns.
func columns(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a Builder takes everything
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// shown is data as it is where it can be printed, otherwise in base64, cut where it is long.
func shown(data []byte) string {
	if len(data) == 0 {
		return "-"
	}
	text, prefix := string(data), ""
	if !printable(text) {
		text, prefix = base64.StdEncoding.EncodeToString(data), "base64:"
	}
	if runes := []rune(text); len(runes) > maxShown {
		return fmt.Sprintf("%s%s... (%d bytes)", prefix, string(runes[:maxShown]), len(data))
	}
	return prefix + text
}

// printable tells whether text can be shown on a terminal: whatever is in the table must not control it.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Printable is a name as it can be shown on a terminal.
func Printable(name string) string {
	switch {
	case name == "":
		return "-"
	case printable(name):
		return name
	default:
		return fmt.Sprintf("%q", name)
	}
}

// word is a name as one word of a shell's command.
func word(name string) string {
	plain := !strings.ContainsFunc(name, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:/@%+=,", r)
	})
	switch {
	case plain && name != "":
		return name
	case printable(name):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	default:
		return fmt.Sprintf("%q", name) // it is only shown
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

// count is a number of things, with the plural by an s.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
