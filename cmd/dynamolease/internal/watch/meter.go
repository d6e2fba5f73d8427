package watch

import (
	"context"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Meter counts the read capacity that a store has consumed. It is safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	units float64
}

// Add is for [dynamolease.Options.OnRequest].
func (m *Meter) Add(_ context.Context, r dynamolease.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.units += r.ReadUnits
}

// Units returns the read units so far.
func (m *Meter) Units() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.units
}
