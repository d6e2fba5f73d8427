package processlease

import (
	"runtime"
	"sync"
	"weak"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A boot is what an Authority remembers of one owner. If two managers could renew one lease, one
// could resign it while the other still believes in it. So a boot has one valid manager at a time,
// and none after it resigned or lost the lease.
type boot struct {
	mu   sync.Mutex
	last uint64 // the number of the latest result
	used uint64 // the number of the latest result that a manager began with or got
	over bool   // it has resigned or lost the lease

	manager interface { // the latest one; nil for none
		Valid() bool
		Close()
	}
}

// number returns the number of a new result.
func (b *boot) number() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	return b.last
}

// renewed takes in that the manager got a new result. Older ones can begin no manager after it.
func (b *boot) renewed(number uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(b.used, number)
}

// check returns an error if no manager may begin. The caller holds mu.
func (b *boot) check() error {
	switch {
	case b.over:
		return refuse("was resigned or lost already: acquire again, with a new owner")
	case b.manager != nil && b.manager.Valid():
		return refuse("has a manager already: end that one first")
	}
	return nil
}

// checkNewer returns an error if a manager began with this result or has a newer one. The caller holds
// mu.
func (b *boot) checkNewer(number uint64) error {
	if number <= b.used {
		return refuse("was used already, or is older than what an earlier manager had: acquire again")
	}
	return nil
}

func refuse(problem string) error {
	return &dynamolease.ArgumentError{Argument: "acquired", Problem: problem}
}

// end prevents further managers.
func (b *boot) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}

// close prevents further managers and closes the one that there is.
func (b *boot) close() {
	b.end()
	if b.manager != nil { // no other can follow any more
		b.manager.Close()
	}
}

// Boots are the boots of which the process still has a Result or a Manager. It is safe for concurrent
// use.
type boots struct {
	mu sync.Mutex
	of map[Participant]weak.Pointer[boot]
}

// get returns the boot of a participant. All its results and managers share it.
func (b *boots) get(p Participant) *boot {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.of[p].Value(); known != nil {
		return known
	}
	if b.of == nil {
		b.of = make(map[Participant]weak.Pointer[boot])
	}
	added := new(boot)
	b.of[p] = weak.Make(added)
	runtime.AddCleanup(added, b.forget, p)
	return added
}

// forget drops a boot that nothing refers to any more, unless there is a new one.
func (b *boots) forget(p Participant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[p].Value() == nil {
		delete(b.of, p)
	}
}
