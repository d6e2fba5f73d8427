package dynamolease

import (
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// drainRetry is after which time a refresh that failed is tried again.
const drainRetry = time.Hour

// Refreshes remember when this process last dated an order anew.
type refreshes struct {
	mu   sync.Mutex
	last map[rowstore.Key]time.Duration // readings of the elapsed clock's Min
}

// begin reports whether an order may be dated anew now, and notes that it is. An order whose node is
// there no more is forgotten after some time.
func (r *refreshes) begin(k rowstore.Key, now time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.last[k]; ok && now-last < drainRetry {
		return false
	}
	for other, last := range r.last {
		if now-last >= drainRetry {
			delete(r.last, other)
		}
	}
	r.last[k] = now
	return true
}
