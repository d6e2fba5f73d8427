package dynamoleaseotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// StoreOptions is an option of [dynamolease.New]. It measures each request of the store. If an
// earlier option set OnRequest, that is called as well. If a later option sets OnRequest, it
// replaces both.
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
	attributes := m.with(operation, outcomeKey.String(string(r.Outcome)))
	m.requests.Add(ctx, 1, attributes)
	m.requestDuration.Record(ctx, r.Duration.Seconds(), attributes)
	if r.ReadUnits > 0 {
		m.capacityRead.Add(ctx, r.ReadUnits, m.with(operation))
	}
	if r.WriteUnits > 0 {
		m.capacityWrite.Add(ctx, r.WriteUnits, m.with(operation))
	}
}

// beginOperation adds 0 to the counters of an operation. Otherwise a series would begin with 1,
// and a rate would not see that first one.
func (m *Metrics) beginOperation(ctx context.Context, operation attribute.KeyValue) {
	for _, outcome := range []dynamolease.RequestOutcome{
		dynamolease.RequestDone, dynamolease.RequestRefused, dynamolease.RequestRetried, dynamolease.RequestUnknown, dynamolease.RequestFailed,
	} {
		m.requests.Add(ctx, 0, m.with(operation, outcomeKey.String(string(outcome))))
	}
}
