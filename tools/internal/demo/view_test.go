package demo

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func someSnapshot(seconds float64, events ...string) *snapshot {
	s := &snapshot{
		elapsed: time.Duration(seconds * float64(time.Second)),
		done:    2,
		files:   40,
		size:    80,
		words:   300,
		workers: []workerState{
			{name: "w1", state: running, open: 1, begun: 1, closed: 2},
			{name: "w2", state: stopped, open: 1},
			{name: "w3", state: killed},
			{name: "w4", state: ended},
		},
	}
	for i := range s.cells {
		s.cells[i].owner = nobody
	}
	s.cells[0] = cell{owner: 0, files: 10, size: 10, done: true}
	s.cells[17] = cell{owner: 0, done: true}
	s.cells[18] = cell{owner: 0, files: 5, size: 10}
	s.cells[19] = cell{owner: nobody, files: 10, size: 10} // the last chunk is in, but nobody says that it is all
	s.cells[63].owner = 1
	for _, text := range events {
		s.news = append(s.news, news{time.Second, text})
	}
	return s
}

func TestPlainView(t *testing.T) {
	var out bytes.Buffer
	v := newView(&out, Plain)
	for _, s := range []*snapshot{
		someSnapshot(0.2, "begin"),
		someSnapshot(0.4, "begin"),
		someSnapshot(1.1, "begin", "w2 is stopped"),
		someSnapshot(1.9, "begin", "w2 is stopped"),
		someSnapshot(2.1, "begin", "w2 is stopped"),
	} {
		if err := v.show(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.close(); err != nil {
		t.Fatal(err)
	}
	const progress = "40 of 80 files, 2 of 64 partitions complete; w1 has 1 w2 has 1 (stopped) w3 has 0 (killed) w4 has 0 (ended)\n"
	const want = "  1.0s  begin\n" +
		"  1.0s  w2 is stopped\n" +
		"  1.1s  " + progress +
		"  2.1s  " + progress
	if got := out.String(); got != want {
		t.Errorf("output:\n%s\nwant:\n%s", got, want)
	}
}

func TestScreen(t *testing.T) {
	var out bytes.Buffer
	v := newView(&out, Mono)
	if err := v.show(someSnapshot(1)); err != nil {
		t.Fatal(err)
	}
	first := strings.Split(out.String(), "\n")
	out.Reset()
	if err := v.show(someSnapshot(2, strings.Split("abcdefghijklmnop", "")...)); err != nil {
		t.Fatal(err)
	}
	second := strings.Split(out.String(), "\n")
	if len(first) != len(second) {
		t.Errorf("pictures have %d and %d lines; they must cover each other", len(first), len(second))
	}
	for _, want := range []string{
		"  1█  ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·",
		"  ·   1█  1▄  ·▇  ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·",
		"  ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   2",
		"  2 = w2  stopped   works on  1   completed  0",
		"███████████████░░░░░░░░░░░░░░░   2 of 64 complete        300 words   2.0 s",
		"   1.0 s  p", // the latest news
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the picture lacks %q:\n%s", want, out.String())
		}
	}
	for _, line := range second {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, clearRest)); n > 80 {
			t.Errorf("line of %d characters: %s", n, line)
		}
	}
	if regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(out.String()) {
		t.Error("colours although there should be none")
	}
	out.Reset()
	if err := v.close(); err != nil || !strings.Contains(out.String(), showCursor) || !strings.Contains(out.String(), wrapOn) {
		t.Errorf("close wrote %q, %v: the terminal is not as before", out.String(), err)
	}
}

func TestScreenInColor(t *testing.T) {
	var out bytes.Buffer
	if err := newView(&out, Color).show(someSnapshot(1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b[36m1█\x1b[0m", "\x1b[36m1▄\x1b[0m", "\x1b[31m2 \x1b[0m", "\x1b[2m·▇\x1b[0m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}

func TestScreenUnusedLeavesTheTerminalAlone(t *testing.T) {
	var out bytes.Buffer
	if err := newView(&out, Color).close(); err != nil || out.Len() > 0 {
		t.Errorf("close wrote %q, %v", out.String(), err)
	}
}

var errBroken = errors.New("nobody reads")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestViewsReportThatNobodyReads(t *testing.T) {
	for _, style := range []Style{Plain, Mono, Color} {
		if err := newView(brokenWriter{}, style).show(someSnapshot(1, "begin")); !errors.Is(err, errBroken) {
			t.Errorf("style %d: show = %v, want %v", style, err, errBroken)
		}
	}
}

func TestTransfers(t *testing.T) {
	var before [Partitions]int
	for i := range before {
		before[i] = nobody
	}
	first, second := someSnapshot(1), someSnapshot(2)
	if moved := first.transfers(&before); len(moved) != 0 {
		t.Errorf("transfers = %v at first, want none", moved)
	}
	second.cells[18].owner = nobody // free, and still the latest of worker 0
	second.cells[63].owner = 0
	if moved := second.transfers(&before); len(moved) != 1 || moved[transfer{1, 0}] != 1 {
		t.Errorf("transfers = %v, want one from 1 to 0", moved)
	}
	second.cells[18].owner = 3
	if moved := second.transfers(&before); len(moved) != 1 || moved[transfer{0, 3}] != 1 {
		t.Errorf("transfers = %v, want one from 0 to 3", moved)
	}
}

func TestBusiest(t *testing.T) {
	s := &snapshot{workers: []workerState{
		{state: killed, begun: 9}, {state: running, open: 8, begun: 2}, {state: running, begun: 3}, {state: running, begun: 3}, {state: stopped, begun: 5},
	}}
	if got := s.busiest(); got != 2 {
		t.Errorf("busiest = %d, want 2", got)
	}
	s.workers = s.workers[:1]
	if got := s.busiest(); got != nobody {
		t.Errorf("busiest = %d, want nobody", got)
	}
}
