package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A table prints on a terminal and in a document.
type table struct {
	name  string // of its place in a document
	title string
	rows  [][]string // the first is the header
	text  []int      // columns to align to the left
	note  string
}

// print writes the table for a terminal.
func (t table) print(w io.Writer) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n\n", t.title)
	t.align(&text)
	fmt.Fprintf(&text, "\n%s\n", t.note)
	for line := range bytes.Lines(text.Bytes()) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// align aligns the columns of text to the left, and the others to the right.
func (t table) align(w io.Writer) {
	widths := make(map[int]int)
	for _, column := range t.text {
		for _, row := range t.rows {
			widths[column] = max(widths[column], len(row[column]))
		}
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range t.rows {
		for column, cell := range row {
			fmt.Fprintf(aligned, "%-*s\t", widths[column], cell)
		}
		fmt.Fprintln(aligned)
	}
	aligned.Flush() // a buffer takes everything
}

// markdown returns the table for a document.
func (t table) markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	rule := make([]string, len(t.rows[0]))
	for column := range rule {
		rule[column] = "---:"
	}
	for _, column := range t.text {
		rule[column] = "---"
	}
	line(t.rows[0])
	line(rule)
	for _, row := range t.rows[1:] {
		line(row)
	}
	fmt.Fprintf(&b, "\n%s\n", t.note)
	return b.String()
}
