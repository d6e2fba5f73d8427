package processlease

import (
	"slices"
	"sync"
)

// Attempts are the writes of the head that are not known to be settled, noted before they are sent. A
// call recognises in them the write of another call, also of one that still waits for its answer, and
// brings its fence home. It is safe for concurrent use.
type attempts struct {
	mu   sync.Mutex
	open []headWrite
}

// maxAttempts bounds what an outage can pile up. A forgotten write looks like any other by its owner.
const maxAttempts = 64

func (a *attempts) note(w headWrite) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, w)
	if n := len(a.open); n > maxAttempts {
		a.open = slices.Clone(a.open[n-maxAttempts:])
	}
}

// drop takes in that the store turned an attempt away.
func (a *attempts) drop(rev string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(w headWrite) bool { return w.rev == rev })
}

// settle drops the attempts up to a seq that is known to be written: no later head builds on them.
func (a *attempts) settle(seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(w headWrite) bool { return w.Seq <= seq })
}

// find returns the attempt that left a head with this rev.
func (a *attempts) find(rev string) (headWrite, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.open, func(w headWrite) bool { return w.rev == rev })
	if i < 0 {
		return headWrite{}, false
	}
	return a.open[i], true
}
