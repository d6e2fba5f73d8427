//go:build linux

package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Evidence is all that is left when a run is over.
type evidence struct {
	events []event
	died   map[string]instant // when processes that were killed were gone
	rows   map[int][]row      // by partition
}

// A verdict is what the checker found.
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
	over      bool // it said that it had ended
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
			v.violate("%s took over in term %d, and the evidence does not hold", each.Process, each.Epoch)
		}
	}
	return v
}

// holdings are the times of belief that the events amount to. A handler that was called again under the same lease goes on.
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
			if ev.Until > ev.At { // one that has nothing left does not believe, and may try all the same
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
	// One that had nothing left from the beginning never believed: it was stopped just before.
	return slices.DeleteFunc(list, func(t holding) bool { return t.to == 0 })
}

// order checks that holdings of one partition do not overlap, and that epochs grow with each.
func (v *verdict) order(partition int, list []holding) {
	slices.SortStableFunc(list, func(a, b holding) int { return cmp.Compare(a.from, b.from) })
	var last holding // that ends latest
	var highest int64
	for i, r := range list {
		if i > 0 && r.epoch <= highest {
			v.violate("%s has %s under epoch %d after epoch %d", r.process, nameOf(partition), r.epoch, highest)
		}
		if i > 0 && r.from < last.to {
			v.overlaps++
			v.violate("%s (epoch %d) has %s and %s (epoch %d) believes that it has it for %v more",
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

// items checks that each item was written once, that none is missing, and that who lost a partition wrote nothing after
// who has it now.
func (v *verdict) items(partition int, rows []row) {
	var epoch int64
	for i, r := range rows {
		switch {
		case r.item != i:
			v.violate("partition %d: item %d is missing", partition, i)
			return // the others are out of place
		case r.times != 1:
			v.violate("partition %d: item %d was written %d times", partition, i, r.times)
		case r.epoch < epoch:
			v.violate("partition %d: %s wrote item %d under epoch %d after one under %d", partition, r.process, i, r.epoch, epoch)
		}
		epoch = max(epoch, r.epoch)
	}
}

// answers checks that the store did what it said.
func (v *verdict) answers(e evidence) {
	for _, ev := range e.events {
		if ev.Kind != wrote && ev.Kind != refused {
			continue
		}
		rows := e.rows[ev.Partition]
		there := ev.Item < len(rows) && rows[ev.Item].process == ev.Process && rows[ev.Item].epoch == ev.Epoch
		if ev.Kind == wrote && !there {
			v.violate("partition %d: item %d of %s is not there although the store said so", ev.Partition, ev.Item, ev.Process)
		}
		if ev.Kind == refused && there {
			v.violate("partition %d: item %d of %s is there although it was refused", ev.Partition, ev.Item, ev.Process)
		}
	}
}
