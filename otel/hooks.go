package dynamoleaseotel

import (
	"context"
	"errors"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// Hooks are those of cfg, which may be none, and measure besides what the coordinator does. Set them in cfg before the
// coordinator is made.
func (m *Metrics) Hooks(cfg coordinator.Config) coordinator.Hooks {
	service, next := serviceKey.String(cfg.Service), cfg.Hooks
	ctx := context.Background() // no request has caused what hooks are told
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
		Renewed: func(took time.Duration, err error) {
			m.renewalDuration.Record(ctx, took.Seconds(), m.with(service, successKey.Bool(err == nil)))
			if next.Renewed != nil {
				next.Renewed(took, err)
			}
		},
	}
}

// beginGroups has the counters of groups begin with 0: a rate does not see how a series that was not there comes to be 1.
func (m *Metrics) beginGroups(ctx context.Context, cfg coordinator.Config) {
	service := serviceKey.String(cfg.Service)
	for _, g := range cfg.Groups {
		group := groupKey.String(g.Name)
		m.gained.Add(ctx, 0, m.with(service, group))
		for _, cause := range []error{coordinator.ErrRevoked, coordinator.ErrShutdown, coordinator.ErrLost} {
			m.lost.Add(ctx, 0, m.with(service, group, causeKey.String(causeOf(cause))))
		}
	}
}

// causeOf is why a node does not work a partition any more.
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
