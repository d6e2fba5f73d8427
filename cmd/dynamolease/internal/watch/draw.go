package watch

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

// leastNews is how many lines the grids leave for moves, where there is room.
const leastNews = 4

// draw returns the picture of a snapshot: at most height lines of at most width cells, the most
// important first.
func draw(s *snapshot, width, height int, t theme) string {
	if width < 1 || height < 1 {
		return ""
	}
	lines := append(s.heading(t), s.table(t)...)
	for i, g := range s.Groups {
		// Each group may have as many lines as the others, and those that the groups before it did
		// not need.
		left := len(s.Groups) - i
		room := max(1, (height-len(lines)-leastNews-2*left)/left)
		lines = append(lines, "", g.title(t))
		lines = append(lines, g.grid(s.Members, width, room, t)...)
	}
	lines = append(lines, "")
	lines = append(lines, s.latest(height-len(lines), t)...)
	return lipgloss.NewStyle().MaxWidth(width).MaxHeight(height).Render(strings.Join(lines, "\n"))
}

// heading says what is watched, and what is known of the store's clock.
func (s *snapshot) heading(t theme) []string {
	clock := "not known"
	if s.Clock != nil {
		const format = "15:04:05.0"
		clock = fmt.Sprintf("%s - %s UTC (%.1f s)", s.Clock.Earliest.Format(format), s.Clock.Latest.Format(format),
			s.Clock.Latest.Sub(s.Clock.Earliest).Seconds())
	}
	lines := []string{
		t.title.Render("service "+operate.Printable(s.Service)) + fmt.Sprintf("   %s   %.1f read units", s.At.Format(clockTime), s.Units),
		"the store's clock " + clock,
		"",
	}
	if s.Error != "" {
		lines = append(lines, t.wrong.Render("cannot look: "+operate.Printable(s.Error)), "")
	}
	if n := len(s.Malformed); n > 0 {
		text := fmt.Sprintf("left out, as it cannot be read (%d): %s", n, operate.Printable(s.Malformed[0]))
		lines = append(lines, t.wrong.Render(text), "")
	}
	return lines
}

// table lists the members with their shares.
func (s *snapshot) table(t theme) []string {
	if len(s.Members) == 0 {
		return []string{"no members"}
	}
	list := table.New().Wrap(false).Headers(s.headers()...).StyleFunc(s.cellStyle(t)).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderHeader(false).BorderColumn(false)
	for _, m := range s.Members {
		left := "-"
		if m.Here {
			left = m.Left.String()
		}
		row := []string{nodeMark(m.number), operate.Printable(m.Node), fmt.Sprintf("%-11s", left)}
		for _, share := range m.Shares {
			row = append(row, fmt.Sprint(share))
		}
		list.Row(append(row, m.state("", ""))...)
	}
	return strings.Split(list.String(), "\n")
}

func (s *snapshot) headers() []string {
	list := []string{"", "node", "left"}
	for _, g := range s.Groups {
		list = append(list, fmt.Sprintf("%5s", operate.Printable(g.Name)))
	}
	return append(list, "")
}

// cellStyle aligns the columns of the table: mark, node, what is left, the shares, and the state.
func (s *snapshot) cellStyle(t theme) table.StyleFunc {
	return func(row, column int) lipgloss.Style {
		var style lipgloss.Style
		share := column > 2 && column <= 2+len(s.Groups)
		switch {
		case row == table.HeaderRow:
			style = t.faint
		case column < 2:
			style = t.node(s.Members[row].number)
		case !share && column > 2:
			style = t.wrong
		}
		switch {
		case column == 0:
			return style.PaddingRight(1)
		case share:
			return style.PaddingRight(2).Align(lipgloss.Right)
		default:
			return style.PaddingRight(2)
		}
	}
}

// latest lists the latest moves, the newest first, as many as there is room for.
func (s *snapshot) latest(room int, t theme) []string {
	if len(s.news) == 0 {
		return []string{t.faint.Render("no moves yet")}
	}
	var lines []string
	for i := len(s.news) - 1; i >= 0 && len(lines) < room; i-- {
		lines = append(lines, s.news[i].At.Format(clockTime)+"  "+s.news[i].String())
	}
	return lines
}
