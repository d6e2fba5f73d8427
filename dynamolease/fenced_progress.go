package dynamolease

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// maxPast is how many works of its own a process remembers: more than it can write while one
// acquisition is on its way. Forgetting costs an ErrEarlierApplied, and nothing else.
const maxPast = 64

// A progress is how far the fenced work under a lease has got, as its holder knows: the work that
// came with the holder's checkpoint, or that its own latest write left. It is never taken from a
// later read, or work that was computed from one checkpoint would be written on top of another.
//
// All copies of a lease share it, and so do the leases that Renew returns.
type progress struct {
	holder holder
	epoch  int64
	loss   atomic.Pointer[LossError] // why the holder has lost the lease; nil if that is not known

	mu   sync.Mutex
	work string
	past []string // works of its own that came before
	open []string // checkpoints that were never answered: any of them may be the row's work
}

// base returns the works that a write may build on. A checkpoint alone may replace one that was
// never answered.
func (p *progress) base(alone bool) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	works := []string{p.work}
	if alone {
		works = append(works, p.open...)
	}
	return works
}

// advance notes a write that was applied.
func (p *progress) advance(work string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past = append(p.past, p.work)
	if len(p.past) > maxPast {
		p.past = slices.Delete(p.past, 0, 1)
	}
	p.work, p.open = work, nil
}

// doubt notes a checkpoint that was never answered.
func (p *progress) doubt(work string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, work)
	if len(p.open) > maxPast {
		p.open = slices.Delete(p.open, 0, 1)
	}
}

// includes reports whether a row with this work is one that the progress has come by.
func (p *progress) includes(work string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.work == work || slices.Contains(p.past, work)
}

// knownWorks finds the progress of the leases that the process still has. It keeps none of them
// alive, but those under which something may have been written that nobody knows of.
type knownWorks struct {
	mu      sync.Mutex
	leases  map[rowstore.Key]weak.Pointer[progress]
	doubted map[rowstore.Key]*progress
}

func newKnownWorks() *knownWorks {
	return &knownWorks{
		leases: make(map[rowstore.Key]weak.Pointer[progress]), doubted: make(map[rowstore.Key]*progress),
	}
}

// acquired returns the progress of a lease whose work came with the acquisition.
func (k *knownWorks) acquired(key rowstore.Key, h holder, epoch int64, work string) *progress {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.find(key, h, epoch); p != nil && p.includes(work) {
		return p
	}
	return k.begin(key, h, epoch, work)
}

// renewed returns the progress of a lease that was extended. Its holder has not seen the work, and
// so what it knows already counts.
func (k *knownWorks) renewed(key rowstore.Key, h holder, epoch int64, work string) *progress {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.find(key, h, epoch); p != nil {
		return p
	}
	return k.begin(key, h, epoch, work)
}

// resumed returns the progress of a lease whose holder goes on from this work.
func (k *knownWorks) resumed(key rowstore.Key, h holder, epoch int64, work string) *progress {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.begin(key, h, epoch, work)
}

func (k *knownWorks) find(key rowstore.Key, h holder, epoch int64) *progress {
	if p := k.leases[key].Value(); p != nil && p.holder == h && p.epoch == epoch {
		return p
	}
	return nil
}

func (k *knownWorks) begin(key rowstore.Key, h holder, epoch int64, work string) *progress {
	p := &progress{holder: h, epoch: epoch, work: work}
	kept := weak.Make(p)
	k.leases[key] = kept
	delete(k.doubted, key)
	runtime.AddCleanup(p, func(key rowstore.Key) { k.drop(key, kept) }, key)
	return p
}

// keep keeps the progress of a lease until it is known what was written under it: a process that
// drops its lease and renews it must not take what was written for its own checkpoint.
func (k *knownWorks) keep(key rowstore.Key, p *progress) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leases[key].Value() == p {
		k.doubted[key] = p
	}
}

// over forgets what is in doubt under a lease that this holder does not have any more.
func (k *knownWorks) over(key rowstore.Key, h holder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.doubted[key]; p != nil && p.holder == h {
		delete(k.doubted, key)
	}
}

// lost notes why a holder has lost its lease.
func (k *knownWorks) lost(key rowstore.Key, h holder, why *LossError) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.leases[key].Value(); p != nil && p.holder == h {
		p.loss.Store(why)
	}
}

func (k *knownWorks) drop(key rowstore.Key, p weak.Pointer[progress]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leases[key] == p {
		delete(k.leases, key)
	}
}
