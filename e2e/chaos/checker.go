//go:build linux

package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// evidence holds everything that a run leaves.
type evidence struct {
	events []event
	died   map[string]instant // when each killed process had ended
	rows   map[int][]row      // by partition
}

// A verdict is the result of the checker.
type verdict struct {
	overlaps   int
	violations []string // overlaps among them
}

func (v *verdict) violate(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// A holding is the time in which a process believed in one lease under one epoch.
type holding struct {
	process   string
	partition int
	epoch     int64
	from, to  instant
	over      bool // the process recorded its end
}

// judge compares the records with each other and with the rows.
func judge(e evidence) verdict {
	var v verdict
	byPartition := make(map[int][]holding)
	for _, r := range holdings(e) {
		byPartition[r.partition] = append(byPartition[r.partition], r)
	}
	for partition, list := range byPartition {
		v.order(partition, list)
	}
	for partition, rows := range e.rows {
		v.items(partition, rows)
	}
	v.answers(e)
	for _, each := range e.events {
		if each.Kind == unfenced {
			v.violate("%s took over in term %d, and its fence does not hold", each.Process, each.Epoch)
		}
	}
	return v
}

// holdings returns the times of belief that follow from the events. A second call of a handler
// under one lease continues the first.
func holdings(e evidence) []holding {
	type key struct {
		process   string
		partition int
		epoch     int64
	}
	events := slices.Clone(e.events)
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	found := make(map[key]*holding)
	var order []*holding
	for _, ev := range events {
		k := key{ev.Process, ev.Partition, ev.Epoch}
		r := found[k]
		if r == nil {
			r = &holding{process: ev.Process, partition: ev.Partition, epoch: ev.Epoch, from: ev.At}
			found[k] = r
			order = append(order, r)
		}
		switch ev.Kind {
		case begin, believe:
			if ev.Until > ev.At { // without time left the process does not believe, but it may still try to act
				r.to = max(r.to, ev.Until)
			}
			r.over = false
		case end:
			r.to, r.over = min(r.to, ev.At), true
		}
	}
	list := make([]holding, len(order))
	for i, r := range order {
		if died, ok := e.died[r.process]; ok && !r.over {
			r.to = min(r.to, died)
		}
		list[i] = *r
	}
	// A process whose lease had no time left at the beginning never believed: it was stopped just
	// before.
	return slices.DeleteFunc(list, func(t holding) bool { return t.to == 0 })
}

// order checks that holdings of one partition do not overlap, and that epochs grow with each.
func (v *verdict) order(partition int, list []holding) {
	slices.SortStableFunc(list, func(a, b holding) int { return cmp.Compare(a.from, b.from) })
	var last holding // the one that ends latest
	var highest int64
	for i, r := range list {
		if i > 0 && r.epoch <= highest {
			v.violate("%s holds %s under epoch %d after epoch %d", r.process, nameOf(partition), r.epoch, highest)
		}
		if i > 0 && r.from < last.to {
			v.overlaps++
			v.violate("%s (epoch %d) holds %s, and %s (epoch %d) believes for %v more that it holds it",
				r.process, r.epoch, nameOf(partition), last.process, last.epoch, last.to.sub(r.from).Round(time.Microsecond))
		}
		highest = max(highest, r.epoch)
		if r.to >= last.to {
			last = r
		}
	}
}

func nameOf(partition int) string {
	if partition == identity {
		return "the identity"
	}
	return fmt.Sprintf("partition %d", partition)
}

// items checks that the workers wrote each item once, and that no item is missing. It also checks
// that a worker that lost a partition wrote nothing after the next holder did.
func (v *verdict) items(partition int, rows []row) {
	var epoch int64
	for i, r := range rows {
		switch {
		case r.item != i:
			v.violate("partition %d: item %d is missing", partition, i)
			return // the numbers of all later rows are wrong, too
		case r.times != 1:
			v.violate("partition %d: the workers wrote item %d %d times", partition, i, r.times)
		case r.epoch < epoch:
			v.violate("partition %d: %s wrote item %d under epoch %d after an item under epoch %d", partition, r.process, i, r.epoch, epoch)
		}
		epoch = max(epoch, r.epoch)
	}
}

// answers checks that the store did what it answered.
func (v *verdict) answers(e evidence) {
	for _, ev := range e.events {
		if ev.Kind != wrote && ev.Kind != refused {
			continue
		}
		rows := e.rows[ev.Partition]
		there := ev.Item < len(rows) && rows[ev.Item].process == ev.Process && rows[ev.Item].epoch == ev.Epoch
		if ev.Kind == wrote && !there {
			v.violate("partition %d: the store answered that %[3]s wrote item %[2]d, and the item does not exist", ev.Partition, ev.Item, ev.Process)
		}
		if ev.Kind == refused && there {
			v.violate("partition %d: the store refused item %d of %s, and the item exists", ev.Partition, ev.Item, ev.Process)
		}
	}
}
