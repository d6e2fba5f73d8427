package demo

import (
	"maps"
	"slices"
	"sync"
)

// A hand is the tenures that a worker has. Rounds put them in and take them out, the work picks from them.
type hand struct {
	mu      sync.Mutex
	tenures map[int]*tenure
	dealt   chan struct{} // tells the work that there is something new; one is enough for any number
}

func newHand() *hand {
	return &hand{tenures: make(map[int]*tenure), dealt: make(chan struct{}, 1)}
}

func (h *hand) add(t *tenure) {
	h.mu.Lock()
	h.tenures[t.partition] = t
	h.mu.Unlock()
	select {
	case h.dealt <- struct{}{}:
	default:
	}
}

func (h *hand) remove(t *tenure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tenures, t.partition)
}

// all returns the tenures in partition order.
func (h *hand) all() []*tenure {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*tenure, 0, len(h.tenures))
	for _, partition := range slices.Sorted(maps.Keys(h.tenures)) {
		list = append(list, h.tenures[partition])
	}
	return list
}

// next takes up the first tenure that is waiting for work; nil if there is none.
func (h *hand) next() *tenure {
	for _, t := range h.all() {
		if t.begin() {
			return t
		}
	}
	return nil
}
