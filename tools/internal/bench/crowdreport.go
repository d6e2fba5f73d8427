package bench

import (
	"fmt"
	"strconv"
)

func (r *crowdReport) tables() []table {
	return []table{r.crashTable(), r.keeperTable()}
}

func (r *crowdReport) crashTable() table {
	c, met := r.Crash, "yes"
	if c.Last > c.Target {
		met = "no"
	}
	rows := [][]string{
		{"leases", "takers", "half s", "last s", "last/ttl", "target s", "met", "requests", "read units", "write units", "conflicts", "throttled"},
		append([]string{grouped(c.Leases), strconv.Itoa(c.Takers), fmt.Sprintf("%.2f", c.Median), fmt.Sprintf("%.2f", c.Last),
			fmt.Sprintf("%.2f", c.Last/c.TTL), fmt.Sprintf("%.2f", c.Target), met}, c.cells()...),
	}
	return table{
		name: "crash", title: "How long until the leases of one node are worked again, where requests hinder each other", rows: rows, text: []int{6},
		note: fmt.Sprintf(`Sessions with a ttl of %v s, the store %v away. Requests and units are those of all nodes from the crash to the last lease, with their
rounds. A conflict is a request that was refused because of a transaction under way. The target is that of a crash above.`, c.TTL, distance),
	}
}

func (r *crowdReport) keeperTable() table {
	rows := [][]string{{"by", "renewals", "longest ms", "checkpoints", "failed", "lost leases", "requests", "read units", "write units", "conflicts", "throttled"}}
	for _, k := range r.Keepers {
		rows = append(rows, append([]string{k.Way, strconv.Itoa(k.Renewals), whole(k.Longest), grouped(k.Checkpoints), strconv.Itoa(k.Failed),
			strconv.Itoa(k.Lost)}, k.cells()...))
	}
	first := r.Keepers[0]
	return table{
		name: "keepers", title: "Renewing leases that are checkpointed twice a second, where requests hinder each other", rows: rows, text: []int{0},
		note: fmt.Sprintf(`%d leases with an expiry of their own, each checkpointed every %v and renewed every third of the ttl of %v s, for %v s.`,
			first.Leases, checkpointEvery, first.TTL, first.Seconds),
	}
}

func (u crowdUsage) cells() []string {
	return []string{plain(u.Requests), plain(u.ReadUnits), plain(u.WriteUnits), strconv.Itoa(u.Conflicts), strconv.Itoa(u.Throttled)}
}
