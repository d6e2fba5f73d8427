package dynamoleaseotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// StoreOptions is an option of [dynamolease.New]: each request of the store is measured. An OnRequest that is set already
// is called as well; one that a later option sets takes the place of both.
func (m *Metrics) StoreOptions(o *dynamolease.Options) {
	next := o.OnRequest
	o.OnRequest = func(ctx context.Context, r dynamolease.Request) {
		m.request(ctx, r)
		if next != nil {
			next(ctx, r)
		}
	}
}

func (m *Metrics) request(ctx context.Context, r dynamolease.Request) {
	operation := operationKey.String(r.Operation)
	if _, begun := m.begun.LoadOrStore(r.Operation, true); !begun {
		m.beginOperation(ctx, operation)
	}
	what := m.with(operation, outcomeKey.String(string(r.Outcome)))
	m.requests.Add(ctx, 1, what)
	m.requestDuration.Record(ctx, r.Duration.Seconds(), what)
	if r.ReadUnits > 0 {
		m.capacityRead.Add(ctx, r.ReadUnits, m.with(operation))
	}
	if r.WriteUnits > 0 {
		m.capacityWrite.Add(ctx, r.WriteUnits, m.with(operation))
	}
}

// beginOperation has the counters of an operation begin with 0, as beginGroups does.
func (m *Metrics) beginOperation(ctx context.Context, operation attribute.KeyValue) {
	for _, outcome := range []dynamolease.RequestOutcome{
		dynamolease.RequestDone, dynamolease.RequestRefused, dynamolease.RequestRetried, dynamolease.RequestUnknown, dynamolease.RequestFailed,
	} {
		m.requests.Add(ctx, 0, m.with(operation, outcomeKey.String(string(outcome))))
	}
}
