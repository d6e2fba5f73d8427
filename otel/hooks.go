package dynamoleaseotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// Hooks returns hooks that measure the coordinator's work, and then call the hooks of cfg, if
// there are any. Set them in cfg before you make the coordinator.
func (m *Metrics) Hooks(cfg coordinator.Config) coordinator.Hooks {
	service, next := serviceKey.String(cfg.Service), cfg.Hooks
	ctx := context.Background() // no request causes a hook
	m.beginGroups(ctx, cfg)
	return coordinator.Hooks{
		Round: func(state coordinator.State) {
			m.rounds.Add(ctx, 1, m.with(service))
			m.roundDuration.Record(ctx, state.LastRound.Seconds(), m.with(service))
			if next.Round != nil {
				next.Round(state)
			}
		},
		Gained: func(lease dynamolease.Lease) {
			m.gained.Add(ctx, 1, m.with(service, groupKey.String(lease.Group)))
			if next.Gained != nil {
				next.Gained(lease)
			}
		},
		Lost: func(lease dynamolease.Lease, cause error) {
			m.lost.Add(ctx, 1, m.with(service, groupKey.String(lease.Group), causeKey.String(causeOf(cause))))
			if next.Lost != nil {
				next.Lost(lease, cause)
			}
		},
		Failed: func(lease dynamolease.Lease, failures int, err error) {
			m.failures.Add(ctx, 1, m.with(service, groupKey.String(lease.Group)))
			if next.Failed != nil {
				next.Failed(lease, failures, err)
			}
		},
		Stuck: func(lease dynamolease.Lease, since time.Time) {
			m.stuck.Add(ctx, 1, m.with(service, groupKey.String(lease.Group)))
			if next.Stuck != nil {
				next.Stuck(lease, since)
			}
		},
		Renewed: func(took time.Duration, err error) {
			m.renewalDuration.Record(ctx, took.Seconds(), m.with(service, successKey.Bool(err == nil)))
			if next.Renewed != nil {
				next.Renewed(took, err)
			}
		},
	}
}

// beginGroups adds 0 to the counters of groups. Otherwise a series would begin with 1, and a rate
// would not see that first one.
func (m *Metrics) beginGroups(ctx context.Context, cfg coordinator.Config) {
	service := serviceKey.String(cfg.Service)
	for _, g := range cfg.Groups {
		group := groupKey.String(g.Name)
		for _, counter := range []metric.Int64Counter{m.gained, m.failures, m.stuck} {
			counter.Add(ctx, 0, m.with(service, group))
		}
		for _, cause := range []error{coordinator.ErrRevoked, coordinator.ErrShutdown, coordinator.ErrLost} {
			m.lost.Add(ctx, 0, m.with(service, group, causeKey.String(causeOf(cause))))
		}
	}
}

// causeOf returns the reason why a node no longer works a partition.
func causeOf(cause error) string {
	switch {
	case errors.Is(cause, coordinator.ErrRevoked):
		return "revoked"
	case errors.Is(cause, coordinator.ErrShutdown):
		return "shutdown"
	default:
		return "lost"
	}
}
