package history

import (
	"slices"
	"sync"
	"time"
)

// latecomers holds requests that arrive after their caller has stopped waiting. Each arrives after
// its own delay, or before that, together with another request for its row: just before a write of
// it or just after, or just after a read that shows it expired. These cases matter most.
type latecomers struct {
	mu      sync.Mutex
	waiting []*latecomer
	running sync.WaitGroup
}

type latecomer struct {
	keys    []rowKey
	deliver func()
}

// add delivers a request after some time, or earlier if strike does.
func (l *latecomers) add(keys []rowKey, after time.Duration, deliver func()) {
	late := &latecomer{keys, deliver}
	l.mu.Lock()
	l.waiting = append(l.waiting, late)
	l.mu.Unlock()
	l.running.Go(func() {
		time.Sleep(after)
		if l.take(func(other *latecomer) bool { return other == late }) != nil {
			deliver()
		}
	})
}

// strike delivers a request for one of the rows now.
func (l *latecomers) strike(keys []rowKey) {
	late := l.take(func(late *latecomer) bool {
		return slices.ContainsFunc(keys, func(k rowKey) bool { return slices.Contains(late.keys, k) })
	})
	if late != nil {
		late.deliver()
	}
}

func (l *latecomers) take(fits func(*latecomer) bool) *latecomer {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.waiting, fits)
	if i < 0 {
		return nil
	}
	late := l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return late
}
