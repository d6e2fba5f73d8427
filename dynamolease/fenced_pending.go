package dynamolease

import (
	"sync"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A pendingWork is fenced work that ended without knowing whether it was applied.
type pendingWork struct {
	before   string   // the row's work before it
	attempts []string // the work that its attempts would have left
}

// A pendingWorks is the pending work of a store, by the lease's key.
type pendingWorks struct {
	mu   sync.Mutex
	open map[rowstore.Key]pendingWork
}

func (p *pendingWorks) note(k rowstore.Key, work pendingWork) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[k] = work
}

func (p *pendingWorks) of(k rowstore.Key) (pendingWork, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.open[k]
	return found, ok
}

func (p *pendingWorks) clear(k rowstore.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, k)
}
