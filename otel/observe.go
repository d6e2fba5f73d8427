package dynamoleaseotel

import (
	"context"
	"maps"

	"go.opentelemetry.io/otel/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// ObserveStore has the width of the store's clock collected, in place of that of a former store. A nil store ends that.
func (m *Metrics) ObserveStore(store *dynamolease.Store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store = store
}

// ObserveCoordinator has the state of a coordinator collected, in place of that of a former one of the same service. A nil
// coordinator ends that. One that has stopped is not healthy, and holds nothing.
func (m *Metrics) ObserveCoordinator(service string, c *coordinator.Coordinator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c == nil {
		delete(m.coordinators, service)
		return
	}
	m.coordinators[service] = c
}

// observed are who is observed now.
func (m *Metrics) observed() (*dynamolease.Store, map[string]*coordinator.Coordinator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.store, maps.Clone(m.coordinators)
}

// observe is called when the figures are collected. It makes no request.
func (m *Metrics) observe(_ context.Context, to metric.Observer) error {
	store, coordinators := m.observed()
	if store != nil {
		if earliest, latest, ok := store.Now(); ok {
			to.ObserveFloat64(m.clockWidth, latest.Sub(earliest).Seconds(), m.with())
		}
	}
	for service, c := range coordinators {
		m.observeCoordinator(to, service, c)
	}
	return nil
}

func (m *Metrics) observeCoordinator(to metric.Observer, service string, c *coordinator.Coordinator) {
	of := serviceKey.String(service)
	healthy := int64(0)
	if c.Health() == nil {
		healthy = 1
	}
	state := c.State()
	to.ObserveInt64(m.healthy, healthy, m.with(of))
	if state.Session != "" {
		to.ObserveFloat64(m.remaining, state.Remaining.Seconds(), m.with(of))
	}
	known := state.Remaining > 0 // a node without a session knows nothing of the others
	if known {
		to.ObserveInt64(m.members, int64(len(state.Members)), m.with(of))
	}
	for _, g := range state.Groups {
		what := m.with(of, groupKey.String(g.Name))
		to.ObserveInt64(m.held, int64(len(g.Leases)), what)
		if known {
			to.ObserveInt64(m.share, int64(g.Share), what)
			to.ObserveInt64(m.free, int64(g.Free), what)
		}
	}
}
