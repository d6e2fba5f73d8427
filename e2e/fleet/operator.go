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

// operate has somebody who takes no part use a store of its own.
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
		s.violate("an operator: %v", err)
	}
}

// members are the members as an operator sees them.
func (s *simulation) members() (list []dynamolease.Member) {
	s.operate(func(ctx context.Context, store *dynamolease.Store) (err error) {
		list, err = store.Members(ctx, service)
		return err
	})
	return list
}

// drain drains nodes: what they have is handed over as if they stopped, and they stay members.
func (s *simulation) drain(nodes []string) {
	s.mark(nodes, true)
	s.change(s.running(), nodes, 2*s.round(), exact, func() {
		s.operate(func(ctx context.Context, store *dynamolease.Store) error { return each(ctx, nodes, store.Drain) })
	})
	s.wantDrained()
}

// undrain ends that: the nodes have their shares again.
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

// mark notes that nodes are drained from now on, or not any more.
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

// wantDrained checks that the members say which of them are drained.
func (s *simulation) wantDrained() {
	var listed []string
	for _, m := range s.members() {
		listed = append(listed, m.Node)
		if m.Drained != s.drained[m.Node] {
			s.violate("the members say of %s that it is drained: %v", m.Node, m.Drained)
		}
	}
	for _, name := range s.running() {
		if !slices.Contains(listed, name) && s.violations() == 0 {
			s.violate("%s runs, and is no member", name)
		}
	}
}

// revoke takes partitions from who has them: each comes to some node, once, and nothing else moves. What comes of the
// epochs before concerns nobody.
func (s *simulation) revoke(step step) {
	var revoked []*tenure
	for _, p := range step.parts {
		revoked = append(revoked, s.watch.tenureOf(p))
	}
	began, before := time.Now(), s.watch.moved()
	within, m := s.expiry()+4*s.round()+2*s.script.lag(), exact
	if s.script.hard { // its handler is stuck where it was, and somebody else takes it out of turn
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
				s.violate("%d partitions are not revoked after %v", len(left), within)
			}
		}
		return nil
	})
	if !s.balanced(s.running(), within-time.Since(began)) {
		return
	}
	if got := s.watch.moved() - before; m == exact && got != len(revoked) {
		s.violate("%d partitions moved, and %d were revoked", got, len(revoked))
	}
}

// demand revokes leases, and returns those that are not over yet.
func (s *simulation) demand(ctx context.Context, store *dynamolease.Store, list []*tenure) (left []*tenure, err error) {
	for _, t := range list {
		epoch := t.lease.Epoch
		if _, done, err := store.Revoke(ctx, group, t.lease.Partition, epoch-1); err != nil || !done {
			s.violate("the epoch before that of partition %d is not over: %v", t.lease.Partition, err)
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

// tenureOf is the tenure of a partition.
func (w *watch) tenureOf(partition int) *tenure {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[partition]
}

// revoked checks that nothing is left of a tenure that is said to be revoked, and that its handler was told so.
func (w *watch) revoked(t *tenure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := coordinator.ErrRevoked
	if w.script.mode == coordinator.PerLease {
		want = coordinator.ErrLost // its renewal finds out
	}
	if left := t.lease.Remaining(); left > 0 || t.told.IsZero() || !errors.Is(t.cause, want) {
		w.violate("partition %d was revoked, and %s has %v left and was told of %v", t.lease.Partition, t.node.name, left, t.cause)
	}
}
