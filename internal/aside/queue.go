// Package aside calls a user's code beside the work that has something to tell: from a goroutine of
// its own, so that the work waits for none of it. Code that is slow, that calls back, or that never
// returns delays the calls behind it, and nothing else.
package aside

import (
	"sync"
	"time"
)

// A Queue makes calls one at a time, in the order in which they came. Its goroutine is there only
// while calls wait, so that a queue needs no end. It is safe for concurrent use.
type Queue struct {
	limit    int
	behind   func(missed int64)
	panicked func(value any)

	mu      sync.Mutex
	waiting []func()
	idle    chan struct{} // closed when no call waits or runs; nil while that is so
	over    bool
	missed  int64 // calls that were left out since behind was told
	dropped int64 // calls that were left out since the start
}

// New returns a queue in which at most limit calls wait; further ones are left out. The queue calls
// behind before the next call with how many that were, and panicked with what a call panicked with.
func New(limit int, behind func(missed int64), panicked func(value any)) *Queue {
	return &Queue{limit: limit, behind: behind, panicked: panicked}
}

// Add queues a call. It waits for nothing.
func (q *Queue) Add(call func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.over:
		return
	case len(q.waiting) >= q.limit:
		q.missed++
		q.dropped++
		return
	}
	q.waiting = append(q.waiting, call)
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.run()
	}
}

// Dropped returns how many calls were left out so far.
func (q *Queue) Dropped() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Flush waits until no call waits or runs, for d at the most, and reports whether that came.
func (q *Queue) Flush(d time.Duration) bool {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}

// Close leaves out the calls that wait, and all that come. It does not wait for the one that runs.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.dropped += int64(len(q.waiting))
	q.waiting = nil
}

// run makes calls until none is left.
func (q *Queue) run() {
	for {
		call, missed := q.next()
		if missed > 0 {
			q.protected(func() { q.behind(missed) })
		}
		if call == nil {
			return
		}
		q.protected(call)
	}
}

// next takes the next call. If there is none, the queue is idle.
func (q *Queue) next() (call func(), missed int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		close(q.idle)
		q.idle = nil
		return nil, 0
	}
	call, q.waiting[0] = q.waiting[0], nil
	q.waiting = q.waiting[1:]
	missed, q.missed = q.missed, 0
	return call, missed
}

func (q *Queue) protected(call func()) {
	defer func() {
		if value := recover(); value != nil {
			q.panicked(value)
		}
	}()
	call()
}
