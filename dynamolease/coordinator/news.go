package coordinator

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// maxLines is of how many partitions each has a line of its own in the log. Where more of a group
// come or go at a time, one line has them all.
const maxLines = 20

// News are partitions that this node has begun to work, or works no more, until the log is told.
type news struct {
	logger *slog.Logger

	mu     sync.Mutex
	events []event
}

type event struct {
	at        time.Time
	verb      string
	group     string
	partition int
	epoch     int64
	cause     error // nil for one that was gained
}

// add notes what became of a worker's partition. It waits for nothing.
func (n *news) add(verb string, w *worker, cause error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, event{time.Now(), verb, w.groupName, w.partition, w.epoch, cause})
}

// tell writes to the log what has happened since the last time.
func (n *news) tell() {
	n.mu.Lock()
	events := n.events
	n.events = nil
	n.mu.Unlock()
	for len(events) > 0 {
		first := events[0]
		alike := func(e event) bool { return e.verb == first.verb && e.group == first.group }
		var some, others []event
		for _, e := range events {
			if alike(e) {
				some = append(some, e)
			} else {
				others = append(others, e)
			}
		}
		n.write(some)
		events = others
	}
}

// write logs events of one kind and group.
func (n *news) write(events []event) {
	first := events[0]
	if len(events) > maxLines {
		numbers := make([]int, len(events))
		for i, e := range events {
			numbers[i] = e.partition
		}
		n.log(first.at, "dynamolease: partitions "+first.verb, "group", first.group, "count", len(events), "partitions", ranges(numbers), first.cause)
		return
	}
	for _, e := range events {
		n.log(e.at, "dynamolease: partition "+e.verb, "group", e.group, "partition", e.partition, "epoch", e.epoch, e.cause)
	}
}

// log writes a record with the time at which it happened. The last of args is the cause.
func (n *news) log(at time.Time, message string, args ...any) {
	r := slog.NewRecord(at, slog.LevelInfo, message, 0)
	last := len(args) - 1
	r.Add(args[:last]...)
	if cause, ok := args[last].(error); ok {
		r.Add("cause", cause)
	}
	_ = n.logger.Handler().Handle(context.Background(), r) // a queue, which does not fail
}

// ranges writes numbers in order, those that follow each other as a range: "0-2, 7".
func ranges(numbers []int) string {
	numbers = slices.Sorted(slices.Values(numbers))
	var text []byte
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			text = append(text, ", "...)
		}
		text = fmt.Append(text, numbers[i])
		if j > i {
			text = fmt.Append(text, "-", numbers[j])
		}
		i = j + 1
	}
	return string(text)
}
