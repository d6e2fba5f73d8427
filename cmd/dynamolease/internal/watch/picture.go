package watch

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

const leastNews = 4 // lines that are left for moves, where there is room

// picture draws a snapshot into a rectangle: at most height lines of at most width characters.
func picture(s *snapshot, width, height int) []line {
	all := s.heading()
	all = append(all, s.table()...)
	for i, g := range s.Groups {
		left := len(s.Groups) - i
		room := max(1, (height-len(all)-leastNews-2*left)/left) // each may have as much as the others, and what they do not need
		all = append(all, nil, g.title())
		all = append(all, g.grid(s, width, room)...)
	}
	all = append(all, nil)
	all = append(all, s.latest(height-len(all))...)
	all = all[:max(0, min(len(all), height))]
	for i := range all {
		all[i] = all[i].cut(width)
	}
	return all
}

// heading says what is watched, and what is known of the store's clock.
func (s *snapshot) heading() []line {
	clock := "not known"
	if s.Clock != nil {
		width := s.Clock.Latest.Sub(s.Clock.Earliest)
		clock = fmt.Sprintf("%s - %s UTC (%.1f s)", s.Clock.Earliest.Format("15:04:05.0"), s.Clock.Latest.Format("15:04:05.0"), width.Seconds())
	}
	first := line{{"service " + operate.Printable(s.Service), bold}}.add(plain, fmt.Sprintf("   %s   %.1f read units", s.At.Format(clockTime), s.Units))
	list := []line{first, text("the store's clock " + clock), nil}
	if s.Error != "" {
		list = append(list, line{{"cannot look: " + operate.Printable(s.Error), red}}, nil)
	}
	if n := len(s.Malformed); n > 0 {
		list = append(list, line{{fmt.Sprintf("left out, as it cannot be read (%d): %s", n, operate.Printable(s.Malformed[0])), red}}, nil)
	}
	return list
}

// table lists the members with their shares.
func (s *snapshot) table() []line {
	if len(s.Members) == 0 {
		return []line{text("no members")}
	}
	wide := len("node")
	for _, m := range s.Members {
		wide = max(wide, utf8.RuneCountInString(operate.Printable(m.Node)))
	}
	head := fmt.Sprintf("  %-*s  %-11s", wide, "node", "left")
	for _, g := range s.Groups {
		head += fmt.Sprintf("  %*s", shareWidth(g), operate.Printable(g.Name))
	}
	list := []line{{{head, dim}}}
	for _, m := range s.Members {
		left := "-"
		if m.Here {
			left = m.Left.String()
		}
		row := line{{nodeMark(m.number) + " " + fmt.Sprintf("%-*s", wide, operate.Printable(m.Node)), nodeStyle(m.number)}}
		row = row.add(plain, fmt.Sprintf("  %-11s", left))
		for j, g := range s.Groups {
			row = row.add(plain, fmt.Sprintf("  %*d", shareWidth(g), m.Shares[j]))
		}
		list = append(list, row.add(red, m.state("  ", "")))
	}
	return list
}

func shareWidth(g group) int { return max(5, utf8.RuneCountInString(operate.Printable(g.Name))) }

func (g group) title() line {
	return line{{operate.Printable(g.Name), bold}}.add(plain, fmt.Sprintf("   %d of 0-%d held", g.Held, max(0, g.size-1)))
}

// grid draws the partitions of a group by their owners, in rows of tens, as many as there is room for.
func (g group) grid(s *snapshot, width, rows int) []line {
	label := len(fmt.Sprint(max(0, g.size-1)))
	tens := max(1, (width-label-3)/11)
	perRow := 10 * tens
	var list []line
	for first := 0; first < g.size; first += perRow {
		if len(list) == rows-1 && g.size-first > perRow {
			return append(list, line{{fmt.Sprintf("%*d  and on to %d: there is no room for more", label, first, g.size-1), dim}})
		}
		row := line{{fmt.Sprintf("%*d ", label, first), dim}}
		for partition := first; partition < min(first+perRow, g.size); partition++ {
			if partition%10 == 0 {
				row = row.add(plain, " ")
			}
			row = g.cell(s, row, partition)
		}
		list = append(list, row)
	}
	return list
}

func (g group) cell(s *snapshot, row line, partition int) line {
	node, held := g.nodes[partition]
	switch {
	case !held:
		return row.add(dim, ".")
	case !s.Members[node].Here:
		return row.add(red, nodeMark(s.Members[node].number))
	default:
		return row.add(nodeStyle(s.Members[node].number), nodeMark(s.Members[node].number))
	}
}

// latest is the latest moves, the newest first, as many as there is room for.
func (s *snapshot) latest(room int) []line {
	if len(s.news) == 0 {
		return []line{{{"no moves yet", dim}}}
	}
	var list []line
	for i := len(s.news) - 1; i >= 0 && len(list) < room; i-- {
		list = append(list, text(strings.Join([]string{s.news[i].At.Format(clockTime), s.news[i].String()}, "  ")))
	}
	return list
}
