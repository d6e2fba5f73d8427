package operate

import (
	"encoding/base64"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds the characters of a checkpoint that are shown.
const maxShown = 40

// columns aligns rows. The first row names the columns.
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

// shown returns data as text if it is printable, otherwise in base64, and cuts long data.
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

// printable reports whether text can be shown on a terminal: text from the table must not control
// it.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Printable returns a name, quoted if it could control a terminal.
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

// word returns a name as one word of a shell's command.
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
		return fmt.Sprintf("%q", name) // for reading only
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

// count returns a number with a noun, in the plural if needed.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
