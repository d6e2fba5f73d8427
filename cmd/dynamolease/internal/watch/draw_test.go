package watch

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

const document = "../../../../docs/command.md"

var update = flag.Bool("update", false, "write the picture into "+document)

// sample is a service of three nodes and two groups, in which something has happened.
func sample() *snapshot {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	left := &operate.Left{AtLeast: 21300 * time.Millisecond, AtMost: 23500 * time.Millisecond}
	s := &snapshot{
		At: at, Service: "shop", Units: 42.5, Clock: &bounds{at.Add(-1200 * time.Millisecond), at.Add(900 * time.Millisecond)},
		Members: []member{
			{Node: "ip-10-0-0-7", Here: true, Left: left, Shares: []int{12, 3}},
			{Node: "ip-10-0-0-8", Here: true, Drained: true, Left: left, Shares: []int{1, 0}, number: 1},
			{Node: "ip-10-0-0-9", Shares: []int{6, 1}, number: 2},
		},
		Groups: []group{
			{Name: "orders", Held: 19, size: 24, nodes: map[int]int{}},
			{Name: "payments", Held: 4, size: 4, nodes: map[int]int{0: 0, 1: 0, 2: 0, 3: 2}},
		},
		news: []move{
			{at.Add(-9 * time.Second), "orders", 3, "ip-10-0-0-8", "", 1772366391000},
			{at.Add(-8 * time.Second), "orders", 3, "", "ip-10-0-0-7", 1772366391001},
			{at, "orders", 12, "ip-10-0-0-8", "ip-10-0-0-7", 1772366391005},
		},
	}
	for partition := range 24 {
		switch {
		case partition < 12:
			s.Groups[0].nodes[partition] = 0
		case partition == 12:
			s.Groups[0].nodes[partition] = 1
		case partition >= 18:
			s.Groups[0].nodes[partition] = 2
		}
	}
	s.Groups[0].Unowned = s.Groups[0].gaps()
	return s
}

// drawn returns a picture without the spaces at the ends of its lines.
func drawn(s *snapshot, width, height int, t theme) string {
	return trimmed(draw(s, width, height, t)) + "\n"
}

func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// The documentation shows the picture as it is.
func TestPicture(t *testing.T) {
	got := drawn(sample(), 110, 24, mono())
	written, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(written), "<!-- picture -->\n```text\n")
	want, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("there is no place for the picture")
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
		return
	}
	if err := os.WriteFile(document, []byte(before+"<!-- picture -->\n```text\n"+got+"```"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A picture fits the terminal, whatever its size, and begins with the most important lines.
func TestPictureFits(t *testing.T) {
	s := sample()
	s.Members[0].Node = "ノード" // each character takes two cells
	for width := range 130 {
		for _, height := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34} {
			picture := draw(s, width, height, colored())
			if n := lipgloss.Height(picture); n > max(1, height) {
				t.Fatalf("%d lines on %d", n, height)
			}
			if n := lipgloss.Width(picture); n > width {
				t.Fatalf("%d cells on %d: %q", n, width, picture)
			}
		}
	}
	if first := draw(s, 80, 1, mono()); !strings.HasPrefix(first, "service shop") {
		t.Errorf("the first line is %q", first)
	}
}

func TestPictureOfManyPartitions(t *testing.T) {
	s := sample()
	s.Groups[0].size = 1_000_000
	got := drawn(s, 80, 24, mono())
	for _, part := range []string{"     0  1111111111 112.....33 3333", "there is no room for more", "payments   4 of 0-3 held", "0  1113"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
}

func TestColors(t *testing.T) {
	colors, bare := drawn(sample(), 110, 24, colored()), drawn(sample(), 110, 24, mono())
	if strings.Contains(bare, "\x1b") {
		t.Errorf("control sequences without colours:\n%q", bare)
	}
	for _, part := range []string{"\x1b[36m1\x1b[m", "\x1b[36mip-10-0-0-7\x1b[m", "\x1b[31mno member\x1b[m", "\x1b[2m.....\x1b[m", "\x1b[33m2\x1b[m"} {
		if !strings.Contains(colors, part) {
			t.Errorf("no %q in:\n%q", part, colors)
		}
	}
	if text := trimmed(ansi.Strip(colors)); text != bare {
		t.Errorf("with colours another text:\n%s", text)
	}
}

// Text from the table does not control the terminal.
func TestPictureIsSafe(t *testing.T) {
	s := sample()
	s.Service, s.Members[0].Node, s.Groups[0].Name, s.news[0].To, s.Error = "a\x1b[2J", "b\x1b[2J\n", "c\x07", "d\x1b]0;x\x07", "e\x1b[2J\n"
	s.Malformed = []string{"malformed row f\x1b[2J", "g"}
	got := drawn(s, 200, 40, mono())
	if !strings.Contains(got, `left out, as it cannot be read (2): "malformed row f\x1b[2J"`) {
		t.Errorf("the malformed rows are not in:\n%s", got)
	}
	if strings.ContainsAny(got, "\x1b\x07") || strings.Count(got, "\n") != strings.Count(drawn(sample(), 200, 40, mono()), "\n")+4 {
		t.Errorf("%q", got)
	}
}
