package dynamoleaseotel

import "go.opentelemetry.io/otel/metric"

// Units, as UCUM writes them.
const (
	seconds  = "s"
	requests = "{request}"
	units    = "{unit}" // of capacity
	rounds   = "{round}"
	leases   = "{lease}"
	members  = "{member}"
	nodes    = "{node}"

	partitions = "{partition}"
	failures   = "{failure}"
	handlers   = "{handler}"
	calls      = "{call}"
)

// A maker makes instruments, and collects the errors.
type maker struct {
	metric.Meter
	errs []error
}

func (m *maker) counter(name, unit, description string) metric.Int64Counter {
	made, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) observedCounter(name, unit, description string) metric.Int64ObservableCounter {
	made, err := m.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) sum(name, unit, description string) metric.Float64Counter {
	made, err := m.Float64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

// duration makes a histogram of seconds. Its buckets reach from one request within a Region to a
// call that gives up.
func (m *maker) duration(name, description string) metric.Float64Histogram {
	made, err := m.Float64Histogram(name, metric.WithUnit(seconds), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30))
	m.note(err)
	return made
}

func (m *maker) gauge(name, unit, description string) metric.Int64ObservableGauge {
	made, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) secondsGauge(name, description string) metric.Float64ObservableGauge {
	made, err := m.Float64ObservableGauge(name, metric.WithUnit(seconds), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) note(err error) {
	if err != nil {
		m.errs = append(m.errs, err)
	}
}
