package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// figures holds the figures that the suites wrote. A suite that wrote none has nil.
type figures struct {
	History *struct {
		Histories, Operations, Faulted, Violations, Undecided int
		Faults                                                map[string]int
		Seed                                                  uint64
	}
	Fleet *struct {
		Runs, Requests, Violations int
		NodeHours                  float64 `json:"node_hours"`
		Events                     map[string]int
		Seed                       uint64
	}
	Chaos *struct {
		Kills, Pauses, Restarts, Cuts, Records, Overlaps, Violations int
		DatabaseKills                                                int `json:"database_kills"`
		Seed                                                         uint64
	}
	Planted *struct {
		Bugs, Caught  int
		CaughtByShort int `json:"caught_by_short"`
	}
}

func readFigures(dir string) (figures, error) {
	var f figures
	return f, errors.Join(
		readFile(dir, "history.json", &f.History), readFile(dir, "fleet.json", &f.Fleet),
		readFile(dir, "chaos.json", &f.Chaos), readFile(dir, "planted.json", &f.Planted))
}

func readFile(dir, name string, into any) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read figures: %w", err)
	}
	return nil
}

// printTable prints the figures that the suites wrote to dir.
func printTable(out io.Writer, dir string, took time.Duration, failed []string) error {
	f, err := readFigures(dir)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	violations := 0
	if h := f.History; h != nil {
		row("histories", "%d, from seed %d", h.Histories, h.Seed)
		row("operations", "%d, of which %d (%d %%) met a fault", h.Operations, h.Faulted, 100*h.Faulted/max(1, h.Operations))
		row("faults", "%s", kinds(h.Faults))
		row("searches undecided", "%d", h.Undecided)
		violations += h.Violations
	}
	if s := f.Fleet; s != nil {
		row("simulated fleets", "%d, from seed %d, with %d requests", s.Runs, s.Seed, s.Requests)
		row("simulated node-hours", "%.0f", s.NodeHours)
		row("events", "%s", kinds(s.Events))
		violations += s.Violations
	}
	if c := f.Chaos; c != nil {
		row("process kills and pauses", "%d and %d, %d restarts, %d cuts, %d kills of the database, from seed %d", c.Kills, c.Pauses, c.Restarts, c.Cuts, c.DatabaseKills, c.Seed)
		row("records", "%d, with %d overlaps", c.Records, c.Overlaps)
		violations += c.Violations
	}
	if p := f.Planted; p != nil {
		row("planted bugs", "%d, of which the suites caught %d, the short run %d", p.Bugs, p.Caught, p.CaughtByShort)
	} else {
		row("planted bugs", "this run did not try them")
	}
	row("violations", "%d", violations)
	if len(failed) > 0 {
		row("suites that failed", "%s", strings.Join(failed, ", "))
	}
	row("time", "%v", took.Round(time.Second))
	return w.Flush()
}

// kinds lists counts as text, the greatest first.
func kinds(counts map[string]int) string {
	text := ""
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", counts[name], name)
	}
	return text
}
