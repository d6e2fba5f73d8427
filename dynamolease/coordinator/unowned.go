package coordinator

import (
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// noteUnowned keeps for State which partitions no node works, as a look at the owners found them.
// Those that are barred no node may take: all exclude them, or are drained. rowsErr names the malformed
// rows.
func (c *Coordinator) noteUnowned(g *group, unowned, barred map[int]bool, rowsErr error) {
	found := make(map[int]Partition, len(unowned))
	for partition := range unowned {
		found[partition] = Partition{Number: partition, Reason: Unowned}
	}
	for partition := range barred {
		p := Partition{Number: partition, Reason: Unowned}
		if g.excluded[partition] {
			p.Reason = Excluded
		}
		found[partition] = p
	}
	rows, _ := dynamolease.RowErrors(rowsErr)
	for _, row := range rows {
		if name, partition, ok := row.Partition(); ok && name == g.Name && partition < g.Partitions && !c.hasWorker(g, partition) {
			found[partition] = Partition{Number: partition, Reason: Malformed, Err: row}
		}
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	since := make(map[int]time.Time, len(g.unowned))
	for _, p := range g.unowned {
		since[p.Number] = p.Since
	}
	list := make([]Partition, 0, len(found))
	for _, partition := range slices.Sorted(maps.Keys(found)) {
		p := found[partition]
		if p.Since = since[partition]; p.Since.IsZero() {
			p.Since = now
		}
		list = append(list, p)
	}
	g.unowned = list
}
