package dynamolease

import (
	"sync"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// maxClosed bounds the sessions that a store remembers. Fewer than that die while one node takes
// their leases over.
const maxClosed = 1024

// closedSessions are sessions that are known to be closed. That never changes, so that their rows
// need not be read again.
type closedSessions struct {
	closing *rowstore.KeyedLock

	mu   sync.Mutex
	keys map[rowstore.Key]bool
}

func newClosedSessions() *closedSessions {
	return &closedSessions{closing: rowstore.NewKeyedLock(), keys: make(map[rowstore.Key]bool)}
}

func (c *closedSessions) contains(k rowstore.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[k]
}

func (c *closedSessions) add(k rowstore.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) >= maxClosed {
		clear(c.keys)
	}
	c.keys[k] = true
}
