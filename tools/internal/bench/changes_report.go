package bench

import (
	"fmt"
	"strconv"
)

// changesTables are one of the times of the changes, and one of what they cost.
func changesTables(list []changeRow) []table {
	return []table{changesTable(list), changesCostTable(list)}
}

func changesTable(list []changeRow) table {
	rows := [][]string{{"nodes", "partitions", "ttl s", "change", "times", "worked again: p50 s", "p99 s", "max s",
		"idle: p50 s", "p99 s", "max s", "even: p50 s", "max s", "moves", "beyond", "started twice"}}
	for _, r := range list {
		if r.Event == noChange {
			continue
		}
		cells := append(r.key(), strconv.Itoa(r.Times))
		for _, d := range []durations{r.Worked, r.Idle} {
			cells = append(cells, seconds(d.P50), seconds(d.P99), seconds(d.Max))
		}
		over := seconds(r.Over.Max)
		if r.Unfinished > 0 {
			over = fmt.Sprintf("%d not even", r.Unfinished)
		}
		twice := ""
		if r.Event == startAtOnce || r.Event == startSpreadOut {
			twice = fmt.Sprintf("%s %%", plain(100*r.Twice/float64(r.Partitions)))
		}
		rows = append(rows, append(cells, seconds(r.Over.P50), over, plain(r.Moves), plain(r.Beyond), twice))
	}
	return table{
		name: "changes", title: "How long it takes until a change of a fleet is over", rows: rows, text: []int{3},
		note: fmt.Sprintf(`Worked again: from the change until another node works a partition that has to move; of a deployment, from the step. Idle: from the return
of its handler, or the crash, until the next one starts. Even: from the change until all shares are. Moves are the mean of a change, and
beyond those that are more than would do. Started twice are partitions whose handler started more than once while the fleet did.
A deployment starts a tenth of the nodes within %v, waits until the shares are even, stops as many old ones, waits again, and goes on.
A step that is not even after %v is given up.`, startSpread, changePatience),
	}
}

func changesCostTable(list []changeRow) table {
	rows := [][]string{{"nodes", "partitions", "ttl s", "change", "window s", "requests", "read units", "write units", "conflicts", "throttled",
		"reads/s of a key", "writes/s of a key", "looks", "most"}}
	for _, r := range list {
		rows = append(rows, append(r.key(), whole(r.Window), plain(r.Requests), plain(r.ReadUnits), plain(r.WriteUnits), plain(r.Conflicts), plain(r.Throttled),
			plain(r.PeakReadUnits), plain(r.PeakWriteUnits), plain(r.Looks.Mean), plain(r.Looks.Most)))
	}
	return table{
		name: "changes-cost", title: "What a change of a fleet costs", rows: rows, text: []int{3},
		note: fmt.Sprintf(`Requests and units are those of all nodes in the window, with their rounds, in the mean of the changes: %d ttls, or until no node has looked at
the owners for %d rounds. "%s" is such a window without a change. The units of a key are the most that one partition key used in one second of the clock; one
that was idle has another second's units in store. Looks are at the owners, of one node in one change (in a step of a deployment): in the mean, and the most.`, windowTTLs, quietRounds, noChange),
	}
}

func (r changeRow) key() []string {
	return []string{strconv.Itoa(r.Nodes), grouped(r.Partitions), plain(r.TTL), r.Event}
}

func seconds(s float64) string { return fmt.Sprintf("%.2f", s) }
