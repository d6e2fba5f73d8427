package watch

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

func (g group) title(t theme) string {
	title := t.title.Render(operate.Printable(g.Name)) + fmt.Sprintf("   %d of 0-%d held", g.Held, max(0, g.size-1))
	if n := len(g.Unowned); n > 0 {
		title += t.wrong.Render(fmt.Sprintf(", %d unowned", n))
	}
	return title
}

// grid draws the partitions of a group by their owners, in columns of ten, and in at most so many
// rows.
func (g group) grid(members []member, width, rows int, t theme) []string {
	label := len(fmt.Sprint(max(0, g.size-1)))
	perRow := 10 * max(1, (width-label-3)/11)
	var lines []string
	for first := 0; first < g.size; first += perRow {
		if len(lines) == rows-1 && g.size-first > perRow {
			text := fmt.Sprintf("%*d  and on to %d: there is no room for more", label, first, g.size-1)
			return append(lines, t.faint.Render(text))
		}
		number := t.faint.Render(fmt.Sprintf("%*d ", label, first))
		lines = append(lines, number+g.row(members, first, min(first+perRow, g.size), t))
	}
	return lines
}

// row draws the partitions from first to before end. Neighbours with one owner are styled together.
func (g group) row(members []member, first, end int, t theme) string {
	var b strings.Builder
	for from := first; from < end; {
		if from%10 == 0 {
			b.WriteString(" ")
		}
		to := from + 1
		for to < end && to%10 != 0 && g.sameOwner(from, to) {
			to++
		}
		mark, style := g.cell(members, from, t)
		b.WriteString(style.Render(strings.Repeat(mark, to-from)))
		from = to
	}
	return b.String()
}

func (g group) sameOwner(a, b int) bool {
	nodeA, heldA := g.nodes[a]
	nodeB, heldB := g.nodes[b]
	return heldA == heldB && nodeA == nodeB
}

func (g group) cell(members []member, partition int, t theme) (mark string, style lipgloss.Style) {
	node, held := g.nodes[partition]
	switch {
	case !held:
		return ".", t.faint
	case !members[node].Here:
		return nodeMark(members[node].number), t.wrong
	default:
		return nodeMark(members[node].number), t.node(members[node].number)
	}
}
