package watch

import "charm.land/lipgloss/v2"

// A theme says how the parts of a picture look.
type theme struct {
	title lipgloss.Style
	faint lipgloss.Style
	wrong lipgloss.Style   // needs attention
	nodes []lipgloss.Style // of members, by their numbers
}

// mono returns the theme without colours.
func mono() theme { return theme{nodes: make([]lipgloss.Style, 1)} }

// colored returns the theme with the terminal's own colours. No member is red, which is the colour
// of wrong.
func colored() theme {
	style := lipgloss.NewStyle()
	t := theme{title: style.Bold(true), faint: style.Faint(true), wrong: style.Foreground(lipgloss.Red)}
	for _, color := range []string{"6", "3", "5", "2", "4", "14", "11", "13", "10", "12"} {
		t.nodes = append(t.nodes, style.Foreground(lipgloss.Color(color)))
	}
	return t
}

func (t theme) node(number int) lipgloss.Style { return t.nodes[number%len(t.nodes)] }
