package dynamoleaseotel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// scope is the name of this package as an instrumentation scope.
const scope = "github.com/dynamolease/dynamolease/otel"

// Metrics hold the instruments of a process for a table. They are safe for concurrent use.
type Metrics struct {
	instruments
	attributes   []attribute.KeyValue // of every figure
	registration metric.Registration
	begun        sync.Map // operations whose counters exist

	mu           sync.Mutex
	store        *dynamolease.Store                  // nil if none is observed
	coordinators map[string]*coordinator.Coordinator // by service
}

// New makes the instruments. A nil provider stands for [otel.GetMeterProvider]. New adds the
// attributes to every figure: a process that uses several tables needs one that tells them apart.
// The error is the provider's.
func New(provider metric.MeterProvider, attributes ...attribute.KeyValue) (*Metrics, error) {
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	meter := provider.Meter(scope)
	made, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("make instruments: %w", err)
	}
	m := &Metrics{instruments: made, attributes: slices.Clone(attributes), coordinators: make(map[string]*coordinator.Coordinator)}
	if m.registration, err = meter.RegisterCallback(m.observe, m.gauges()...); err != nil {
		return nil, fmt.Errorf("register gauges: %w", err)
	}
	return m, nil
}

// Close ends the gauges: it observes nothing any more. Counters and histograms keep their values,
// and still count while the store and the coordinators run.
func (m *Metrics) Close() error {
	if err := m.registration.Unregister(); err != nil {
		return fmt.Errorf("unregister gauges: %w", err)
	}
	return nil
}

// with returns the attributes of a figure: its own and those of all figures.
func (m *Metrics) with(own ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(slices.Concat(m.attributes, own)...)
}

// ObserveStore begins to collect the width of the store's clock. The store replaces a former one.
// A nil store ends the collection.
func (m *Metrics) ObserveStore(store *dynamolease.Store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store = store
}

// ObserveCoordinator begins to collect the state of a coordinator. The coordinator replaces a
// former one of this service. A nil coordinator ends the collection. A coordinator that has
// stopped is not healthy, and holds nothing.
func (m *Metrics) ObserveCoordinator(service string, c *coordinator.Coordinator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c == nil {
		delete(m.coordinators, service)
		return
	}
	m.coordinators[service] = c
}

// observed returns the store and the coordinators that are observed now.
func (m *Metrics) observed() (*dynamolease.Store, map[string]*coordinator.Coordinator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.store, maps.Clone(m.coordinators)
}

// observe observes the gauges. OpenTelemetry calls it when it collects the figures. It makes no
// request.
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
	to.ObserveInt64(m.dropped, state.Dropped, m.with(of))
	if state.Session != "" {
		to.ObserveFloat64(m.remaining, state.Remaining.Seconds(), m.with(of))
	}
	known := state.Remaining > 0 // a node without a session knows nothing of the other nodes
	if known {
		to.ObserveInt64(m.members, int64(len(state.Members)), m.with(of))
	}
	for _, g := range state.Groups {
		attributes := m.with(of, groupKey.String(g.Name))
		to.ObserveInt64(m.held, int64(len(g.Leases)), attributes)
		m.observeIdle(to, g, known, of, groupKey.String(g.Name))
		if known {
			to.ObserveInt64(m.share, int64(g.Share), attributes)
			to.ObserveInt64(m.free, int64(g.Free), attributes)
		}
	}
}

// observeIdle observes how many partitions are not worked, by reason. What a node without a session
// last saw of the table says nothing any more.
func (m *Metrics) observeIdle(to metric.Observer, g coordinator.GroupState, known bool, of ...attribute.KeyValue) {
	count := make(map[coordinator.Reason]int64)
	for _, p := range g.Idle {
		count[p.Reason]++
	}
	for _, reason := range coordinator.Reasons() {
		switch reason {
		case coordinator.Unowned, coordinator.Excluded, coordinator.Malformed:
			if !known {
				continue
			}
		}
		to.ObserveInt64(m.idle, count[reason], m.with(append(of, reasonKey.String(string(reason)))...))
	}
}
