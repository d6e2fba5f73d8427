package bench

import (
	"fmt"
	"strconv"
)

func changesTable(list []changeRow) table {
	rows := [][]string{{"nodes", "partitions", "ttl s", "change", "times", "worked p50 s", "p99", "max", "idle p50 s", "p99", "max", "even s",
		"moves", "beyond", "twice", "looks", "most", "requests", "read units", "write units", "peak reads/s", "peak writes/s"}}
	for _, r := range list {
		cells := []string{strconv.Itoa(r.Nodes), grouped(r.Partitions), plain(r.TTL), r.Event, strconv.Itoa(r.Times)}
		cells = append(cells, r.Worked.cells()...)
		cells = append(cells, r.Idle.cells()...)
		cells = append(cells, fmt.Sprintf("%.2f", r.Over.Max), plain(r.Moves), plain(r.Beyond), plain(r.Twice), plain(r.Looks.Mean), plain(r.Looks.Most),
			plain(r.Requests), plain(r.ReadUnits), plain(r.WriteUnits), plain(r.PeakReadUnits), plain(r.PeakWriteUnits))
		rows = append(rows, cells)
	}
	return table{name: "changes", title: "What a change of a fleet takes", rows: rows, text: []int{3}, note: "TODO"}
}

func (d durations) cells() []string {
	if d == (durations{}) {
		return []string{"", "", ""}
	}
	return []string{fmt.Sprintf("%.2f", d.P50), fmt.Sprintf("%.2f", d.P99), fmt.Sprintf("%.2f", d.Max)}
}
