package dynamoleaseotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes of the figures.
const (
	operationKey = attribute.Key("dynamolease.operation")
	outcomeKey   = attribute.Key("dynamolease.outcome")
	serviceKey   = attribute.Key("dynamolease.service")
	groupKey     = attribute.Key("dynamolease.group")
	causeKey     = attribute.Key("dynamolease.cause")
	successKey   = attribute.Key("dynamolease.success")
	reasonKey    = attribute.Key("dynamolease.reason")
)

// instruments are the instruments that the package documentation lists.
type instruments struct {
	requests        metric.Int64Counter
	requestDuration metric.Float64Histogram
	capacityRead    metric.Float64Counter
	capacityWrite   metric.Float64Counter

	rounds          metric.Int64Counter
	roundDuration   metric.Float64Histogram
	renewalDuration metric.Float64Histogram
	gained          metric.Int64Counter
	lost            metric.Int64Counter
	failures        metric.Int64Counter
	stuck           metric.Int64Counter

	clockWidth metric.Float64ObservableGauge
	held       metric.Int64ObservableGauge
	share      metric.Int64ObservableGauge
	free       metric.Int64ObservableGauge
	idle       metric.Int64ObservableGauge
	members    metric.Int64ObservableGauge
	remaining  metric.Float64ObservableGauge
	healthy    metric.Int64ObservableGauge
	dropped    metric.Int64ObservableCounter
}

func newInstruments(meter metric.Meter) (instruments, error) {
	m := &maker{Meter: meter}
	made := instruments{
		requests:        m.counter("dynamolease.requests", requests, "Requests to DynamoDB."),
		requestDuration: m.duration("dynamolease.request.duration", "Time until the answer to a request, or until the store gave up."),
		capacityRead:    m.sum("dynamolease.capacity.read", units, "Read units consumed, as DynamoDB reports them."),
		capacityWrite:   m.sum("dynamolease.capacity.write", units, "Write units consumed, as DynamoDB reports them."),

		rounds:          m.counter("dynamolease.rounds", rounds, "Rounds of planning."),
		roundDuration:   m.duration("dynamolease.round.duration", "Time that a round of planning took."),
		renewalDuration: m.duration("dynamolease.renewal.duration", "Time that a heartbeat took, and whether it succeeded."),
		gained:          m.counter("dynamolease.leases.gained", leases, "Partitions that this node has begun to work."),
		lost:            m.counter("dynamolease.leases.lost", leases, "Partitions whose work on this node has ended, and why."),
		failures:        m.counter("dynamolease.handler.failures", failures, "Failures of handlers on this node, each of which is called again."),
		stuck:           m.counter("dynamolease.handler.stuck", handlers, "Handlers on this node that went on although their leases were over."),

		clockWidth: m.secondsGauge("dynamolease.clock.width", "Distance between the bounds of the store's time."),
		held:       m.gauge("dynamolease.leases.held", leases, "Partitions that this node owns."),
		share:      m.gauge("dynamolease.leases.share", leases, "Partitions that this node should own by the latest plan."),
		free:       m.gauge("dynamolease.leases.free", leases, "Partitions that should be worked and are not, as far as this node knows."),
		idle:       m.gauge("dynamolease.partitions.idle", partitions, "Partitions that are not worked, and why, as far as this node knows."),
		members:    m.gauge("dynamolease.members", members, "Members of the service, when this node last read them."),
		remaining:  m.secondsGauge("dynamolease.session.remaining", "Time for which the session of this node stays good without another heartbeat."),
		healthy:    m.gauge("dynamolease.healthy", nodes, "1 while this node is healthy, 0 otherwise."),
		dropped:    m.observedCounter("dynamolease.calls.dropped", calls, "Calls of hooks and log records that were left out, because earlier ones are too slow."),
	}
	return made, errors.Join(m.errs...)
}

// gauges returns the instruments that are observed when the figures are collected.
func (i *instruments) gauges() []metric.Observable {
	return []metric.Observable{i.clockWidth, i.held, i.share, i.free, i.idle, i.members, i.remaining, i.healthy, i.dropped}
}
