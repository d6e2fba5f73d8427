package dynamoleaseotel

import (
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// scope names who measures.
const scope = "github.com/dynamolease/dynamolease/otel"

// Metrics are the instruments of a process and a table. They are safe for concurrent use.
type Metrics struct {
	instruments
	attributes   []attribute.KeyValue // of every figure
	registration metric.Registration
	begun        sync.Map // operations whose counters are there

	mu           sync.Mutex
	store        *dynamolease.Store                  // nil while none is observed
	coordinators map[string]*coordinator.Coordinator // by service
}

// New makes the instruments. A nil provider stands for [otel.GetMeterProvider]. The attributes are added to every figure: a
// process that uses several tables needs one that tells them apart. The error is the provider's.
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

// Close ends the gauges: nothing is observed any more. Counters and histograms keep what they have, and go on counting
// where the store and the coordinators do.
func (m *Metrics) Close() error {
	if err := m.registration.Unregister(); err != nil {
		return fmt.Errorf("unregister gauges: %w", err)
	}
	return nil
}

// with are the attributes of a figure.
func (m *Metrics) with(own ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(slices.Concat(m.attributes, own)...)
}
