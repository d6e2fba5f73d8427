package watch

import "strings"

// Colours and the like, as the terminal knows them.
const (
	plain = ""
	bold  = "1"
	dim   = "2"
	red   = "31"
)

// nodeStyle is the colour of a member, by its number from 0. Red is for what is wrong.
func nodeStyle(i int) string {
	styles := [...]string{"36", "33", "35", "32", "34", "96", "93", "95", "92", "94"}
	return styles[i%len(styles)]
}

const marks = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// nodeMark is the character of a member, by its number from 0.
func nodeMark(i int) string {
	if i >= len(marks) {
		return "+"
	}
	return marks[i : i+1]
}

// A line is text in pieces of one style each.
type line []piece

type piece struct{ text, style string }

func text(s string) line { return line{{s, plain}} }

func (l line) add(style, s string) line {
	if n := len(l); n > 0 && l[n-1].style == style {
		l[n-1].text += s
		return l
	}
	return append(l, piece{s, style})
}

// cut is the line as far as it fits.
func (l line) cut(width int) line {
	var short line
	for _, p := range l {
		runes := []rune(p.text)
		if len(runes) > width {
			runes = runes[:max(0, width)]
		}
		width -= len(runes)
		if len(runes) > 0 {
			short = append(short, piece{string(runes), p.style})
		}
	}
	return short
}

func (l line) render(color bool) string {
	var b strings.Builder
	for _, p := range l {
		if !color || p.style == plain {
			b.WriteString(p.text)
			continue
		}
		b.WriteString("\x1b[" + p.style + "m" + p.text + "\x1b[0m")
	}
	return b.String()
}
