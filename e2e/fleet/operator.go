package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/internal/jitter"
)

// operate lets an operator, which is not a member, use a separate store.
func (s *simulation) operate(do func(ctx context.Context, store *dynamolease.Store) error) {
	path := s.server.VirtualTransport()
	defer path.Close()
	path.Every("", s.gate.hold("operator"))
	c := newClock(dice(s.script.seed, "operator"))
	store, err := dynamolease.New(path.Client(), s.table, func(o *dynamolease.Options) { o.Elapsed = c.elapsed })
	if err != nil {
		s.Fatal(err)
	}
	defer store.Close()
	ctx := jitter.With(context.Background(), func(n time.Duration) time.Duration { return n / 2 })
	if err := do(ctx, store); err != nil {
		s.violate("an operator's call failed: %v", err)
	}
}

// members returns the members as an operator sees them.
func (s *simulation) members() (list []dynamolease.Member) {
	s.operate(func(ctx context.Context, store *dynamolease.Store) (err error) {
		list, err = store.Members(ctx, service)
		return err
	})
	return list
}

// drain drains nodes. It expects that they hand over their partitions as if they stopped, and that
// they stay members.
func (s *simulation) drain(nodes []string) {
	s.mark(nodes, true)
	s.change(s.running(), nodes, 2*s.round(), exact, func() {
		s.operate(func(ctx context.Context, store *dynamolease.Store) error { return each(ctx, nodes, store.Drain) })
	})
	s.wantDrained()
}

// undrain ends the drain of nodes. It expects that they get their shares again.
func (s *simulation) undrain(nodes []string) {
	s.mark(nodes, false)
	s.change(s.running(), nil, 2*s.round(), exact, func() {
		s.operate(func(ctx context.Context, store *dynamolease.Store) error { return each(ctx, nodes, store.Undrain) })
	})
	s.wantDrained()
}

func each(ctx context.Context, nodes []string, do func(ctx context.Context, service, node string) error) error {
	var errs []error
	for _, name := range nodes {
		errs = append(errs, do(ctx, service, name))
	}
	return errors.Join(errs...)
}

// mark notes that nodes are drained from now on, or no longer drained.
func (s *simulation) mark(nodes []string, drained bool) {
	for _, name := range nodes {
		s.drained[name] = drained
		s.watch.set(func() {
			s.nodes[name].drainedSince = time.Time{}
			if drained {
				s.nodes[name].drainedSince = time.Now()
			}
		})
	}
}

// wantDrained checks that the list of members shows which of them are drained.
func (s *simulation) wantDrained() {
	var listed []string
	for _, m := range s.members() {
		listed = append(listed, m.Node)
		if m.Drained != s.drained[m.Node] {
			s.violate("the list of members is wrong about %s: drained %v", m.Node, m.Drained)
		}
	}
	for _, name := range s.running() {
		if !slices.Contains(listed, name) && s.violations() == 0 {
			s.violate("%s runs, and is not a member", name)
		}
	}
}

// revoke revokes the leases of partitions. It expects that each of these partitions moves once, and
// no other, and that it makes no difference to revoke an earlier epoch.
func (s *simulation) revoke(step step) {
	var revoked []*holding
	for _, p := range step.parts {
		revoked = append(revoked, s.watch.holdingOf(p))
	}
	began, before := time.Now(), s.watch.moved()
	within, m := s.expiry()+4*s.round()+2*s.script.lag(), exact
	if s.script.hard { // if its handler is stuck, another node takes the partition out of turn
		within += s.script.drain + s.script.ttl + 5*s.round()
		m = loose
	}
	s.operate(func(ctx context.Context, store *dynamolease.Store) error {
		for left := revoked; len(left) > 0 && s.violations() == 0; s.pass(s.round() / 4) {
			var err error
			if left, err = s.demand(ctx, store, left); err != nil {
				return err
			}
			if time.Since(began) > within {
				s.violate("the leases of %d partitions are not revoked after %v", len(left), within)
			}
		}
		return nil
	})
	if !s.balanced(s.running(), within-time.Since(began)) {
		return
	}
	if got := s.watch.moved() - before; m == exact && got != len(revoked) {
		s.violate("%d partitions moved, and the operator revoked %d", got, len(revoked))
	}
}

// demand revokes leases, and returns those that their holders still have.
func (s *simulation) demand(ctx context.Context, store *dynamolease.Store, list []*holding) (left []*holding, err error) {
	for _, t := range list {
		epoch := t.lease.Epoch
		if _, done, err := store.Revoke(ctx, group, t.lease.Partition, epoch-1); err != nil || !done {
			s.violate("Revoke does not report the previous epoch of partition %d as over: %v", t.lease.Partition, err)
		}
		_, done, err := store.Revoke(ctx, group, t.lease.Partition, epoch)
		if err != nil {
			return nil, err
		}
		if !done {
			left = append(left, t)
			continue
		}
		s.watch.revoked(t)
	}
	return left, nil
}

// holdingOf returns the latest holding of a partition.
func (w *watch) holdingOf(partition int) *holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[partition]
}

// revoked checks a holding after Revoke reported it as over: the lease has no time left, and the
// context of the handler ended with the right cause.
func (w *watch) revoked(t *holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := coordinator.ErrRevoked
	if w.script.mode == coordinator.PerLease {
		want = coordinator.ErrLost // its renewal notices
	}
	if left := t.lease.Remaining(); left > 0 || t.told.IsZero() || !errors.Is(t.cause, want) {
		w.violate("partition %d was revoked, and %s has %v left, and the cause of its context is: %v", t.lease.Partition, t.node.name, left, t.cause)
	}
}
