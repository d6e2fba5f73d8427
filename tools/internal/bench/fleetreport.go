package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (r *report) roundTable() table {
	header := []string{"leases", "way", "requests", "read units", "write units", "read units/s", "write units/s"}
	for _, distance := range distances {
		if distance == 0 {
			header = append(header, "ms, test server")
		} else {
			header = append(header, fmt.Sprintf("ms, %d ms away", distance.Milliseconds()))
		}
	}
	rows := [][]string{header}
	for _, row := range r.Rounds {
		cells := []string{grouped(row.Leases), row.Way, plain(row.Requests), plain(row.ReadUnits), plain(row.WriteUnits),
			plain(row.ReadRate), plain(row.WriteRate)}
		for i := range distances {
			if i < len(row.Times) {
				cells = append(cells, plain(row.Times[i].Millis))
			} else {
				cells = append(cells, "")
			}
		}
		rows = append(rows, cells)
	}
	return table{
		name: "rounds", title: fmt.Sprintf("One round of a fleet of %d nodes", fleetNodes), rows: rows, text: []int{1},
		note: fmt.Sprintf(`Requests and units are those of all nodes in the cheapest round, as the test server says (ReturnConsumedCapacity). Units a second are at a ttl
of %.0f s, with a round each third of it. A quiet round of sessions reads the members, and a resync the owners of all leases too. A
node resyncs each %s rounds with %s leases; the mean counts resyncs as rare as that. The other ways renew only: they know no members, and a fleet pays for finding them besides. Each item may
read some rows again where the machine is too busy for the store's time to be known.
Times are those of all nodes at once, medians of up to %d rounds, of one where it takes over %.0f s; a resync's is one node's.
The test server does one request at a time, with no distance; at a distance an endpoint answers without doing any work, but for queries.%s`,
			fleetTTL.Seconds(), grouped(int(resyncEvery(targetSize))), grouped(targetSize), mostRounds, roundLimit.Seconds(), r.rateVerdict()),
	}
}

// rateVerdict compares the sessions with the target.
func (r *report) rateVerdict() string {
	at := func(way string) int {
		return slices.IndexFunc(r.Rounds, func(row roundRow) bool { return row.Way == way && row.Leases == targetSize })
	}
	quiet, average := at(quietRound), at(sessionMean)
	if quiet < 0 || average < 0 {
		return ""
	}
	verdict := func(row roundRow) string {
		word := "met"
		if row.ReadRate > rateTarget || row.WriteRate > rateTarget {
			word = "missed"
		}
		return fmt.Sprintf("%s write and %s read units, %s", plain(row.WriteRate), plain(row.ReadRate), word)
	}
	return fmt.Sprintf(`
Target: %s leases in sessions use at most %.1f write and %.1f read units a second, where a write for each lease and round makes %s.
Without resyncs: %s. With resyncs: %s.`,
		grouped(targetSize), rateTarget, rateTarget, plain(targetSize*roundsPerTTL/fleetTTL.Seconds()), verdict(r.Rounds[quiet]), verdict(r.Rounds[average]))
}

// monthTable shows the cost of each way, by the number of leases.
func (r *report) monthTable() table {
	header, sizes := []string{"way, dollars a month"}, r.sizes()
	for _, size := range sizes {
		header = append(header, grouped(size)+" leases")
	}
	rows := [][]string{header}
	for _, name := range r.billedWays() {
		cells := []string{name}
		for _, size := range sizes {
			i := slices.IndexFunc(r.Rounds, func(row roundRow) bool { return row.Way == name && row.Leases == size })
			cells = append(cells, cents(r.Rounds[i].Month))
		}
		rows = append(rows, cells)
	}
	return table{
		name: "month", title: fmt.Sprintf("What a fleet of %d nodes costs in a month", fleetNodes), rows: rows, text: []int{0},
		note: fmt.Sprintf(`At a ttl of %.0f s with a round each third of it, %.0f hours, on demand in us-east-1: $%.3f for a million write units, $%.3f for a
million read units, as since 2024-11-01. All ways cost in proportion to 1/ttl.`,
			fleetTTL.Seconds(), month.Hours(), dollarsPerWriteUnit*1e6, dollarsPerReadUnit*1e6),
	}
}

func (r *report) sizes() []int {
	var sizes []int
	for _, row := range r.Rounds {
		sizes = append(sizes, row.Leases)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// billedWays returns the ways as a fleet pays for them: sessions only by their mean.
func (r *report) billedWays() []string {
	var names []string
	for _, row := range r.Rounds {
		if row.Way != quietRound && row.Way != resyncRound && !slices.Contains(names, row.Way) {
			names = append(names, row.Way)
		}
	}
	return names
}

func (r *report) takeoverTable() table {
	rows := [][]string{{"event", "times", "quickest s", "median s", "slowest s", "slowest/ttl", "slowest/round", "target s", "met"}}
	for _, t := range r.Takeovers {
		slowest, met := slices.Max(t.Seconds), "yes"
		if slowest > t.Target {
			met = "no"
		}
		rows = append(rows, []string{t.Event, strconv.Itoa(len(t.Seconds)), fmt.Sprintf("%.2f", slices.Min(t.Seconds)),
			fmt.Sprintf("%.2f", median(t.Seconds)), fmt.Sprintf("%.2f", slowest), fmt.Sprintf("%.2f", slowest/t.TTL),
			fmt.Sprintf("%.2f", slowest/t.Round), fmt.Sprintf("%.2f", t.Target), met})
	}
	first := r.Takeovers[0]
	return table{
		name: "takeovers", title: "How long until the last partition of a node runs elsewhere", rows: rows, text: []int{0, 8},
		note: fmt.Sprintf(`Fleets of %d nodes with %d partitions, a ttl of %v s and rounds of %.2f s; handlers that return at once. A node that crashes is cut off
from the table in the middle of whatever it does. Targets: %.2f ttl and a round after a crash, a round with its jitter after a stop.`,
			first.Nodes, first.Partitions, first.TTL, first.Round, crashTarget),
	}
}

func (r *report) planTable() table {
	rows := [][]string{{"partitions", "case", "us", "B", "allocs"}}
	for _, p := range r.Plans {
		rows = append(rows, []string{grouped(p.Partitions), p.Case, plain(p.Micros), whole(p.Bytes), whole(p.Allocs)})
	}
	return table{
		name: "plan", title: "How long a node works out what to give up and what to take", rows: rows, text: []int{1},
		note: `Of ten nodes: "steady" is one of a quiet fleet, in a resync; "join" one that has just joined, and takes its share.`,
	}
}

// grouped formats a number with commas between thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// cents formats an amount of dollars, with cents if they matter.
func cents(dollars float64) string {
	if dollars >= 100 {
		return plain(dollars)
	}
	return fmt.Sprintf("%.2f", dollars)
}

// plain formats a number with the digits that matter.
func plain(v float64) string {
	if v >= 100 {
		return grouped(int(v + 0.5))
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
