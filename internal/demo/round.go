package demo

import (
	"context"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// round renews what the worker holds before anything else, and then looks at what to give back or take.
func (w *worker) round(ctx context.Context, joining bool) error {
	if err := w.dropExpired(); err != nil {
		return err
	}
	if err := w.renew(ctx); err != nil {
		return err
	}
	if _, err := w.store.Heartbeat(ctx, service, w.name, w.name, w.ttl, group); err != nil {
		return err
	}
	if err := w.releaseIf(ctx, Partitions, (*tenure).isFinished); err != nil {
		return err
	}
	seen, err := w.look(ctx)
	if err != nil {
		return err
	}
	if len(seen.done) == Partitions {
		if err := w.store.Leave(ctx, service, w.name); err != nil {
			return err
		}
		return errAllDone
	}
	if joining || seen.me < 0 {
		return nil
	}
	return w.follow(ctx, seen.plan())
}

// dropExpired ends the tenures whose lease has run out, such as all of them after the process was stopped.
func (w *worker) dropExpired() error {
	for _, t := range w.hand.all() {
		if _, ok := t.holds(); !ok {
			if err := w.lose(t, errExpired); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *worker) lose(t *tenure, cause error) error {
	t.end(cause)
	w.hand.remove(t)
	return w.record.add(w.event(lost, t.partition, t.epoch))
}

// releaseIf releases up to n tenures that match and are not being worked on. Each is over before that is recorded, and
// recorded before another worker can take it.
func (w *worker) releaseIf(ctx context.Context, n int, match func(*tenure) bool) error {
	for _, t := range slices.Backward(w.hand.all()) {
		if n == 0 || !match(t) || !t.giveUp() {
			continue
		}
		n--
		w.hand.remove(t)
		if err := w.record.add(w.event(released, t.partition, t.epoch)); err != nil {
			return err
		}
		if _, err := w.store.Release(ctx, group, t.partition, w.name); err != nil {
			return err
		}
	}
	return nil
}

// renew extends all tenures. One that is left out was lost.
func (w *worker) renew(ctx context.Context) error {
	held := w.hand.all()
	partitions := make([]int, len(held))
	for i, t := range held {
		partitions[i] = t.partition
	}
	leases, err := w.store.Renew(ctx, group, partitions, w.name, w.ttl)
	if err != nil {
		return err // the tenures keep their deadlines
	}
	renewed := make(map[int]dynamolease.Lease, len(leases))
	for _, lease := range leases {
		renewed[lease.Partition] = lease
	}
	for _, t := range held {
		if err := w.extend(t, renewed); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) extend(t *tenure, renewed map[int]dynamolease.Lease) error {
	lease, ok := renewed[t.partition]
	if !ok || lease.Epoch != t.epoch {
		return w.lose(t, errTaken)
	}
	if err := w.believe(extended, lease); err != nil {
		return err
	}
	t.extend(lease)
	return nil
}

// look reads who takes part, who owns what and what is done. The results are read last: a partition that its owner has
// released then either shows its result or is to be taken.
func (w *worker) look(ctx context.Context) (situation, error) {
	members, err := w.store.Members(ctx, service)
	if err != nil {
		return situation{}, err
	}
	leases, err := w.store.Owners(ctx, group)
	if err != nil {
		return situation{}, err
	}
	results, err := w.results.read(ctx)
	if err != nil {
		return situation{}, err
	}
	seen := situation{
		me:      slices.IndexFunc(members, func(m dynamolease.Member) bool { return m.Node == w.name }),
		members: len(members),
		done:    make(map[int]bool, len(results)),
		owned:   make(map[int]bool, len(leases)),
	}
	for partition := range results {
		seen.done[partition] = true
	}
	for _, lease := range leases {
		// A lease of its own that it has no tenure of can be acquired again at once.
		seen.owned[lease.Partition] = lease.Owner != w.name
	}
	for _, t := range w.hand.all() {
		if !seen.done[t.partition] {
			seen.mine = append(seen.mine, t.partition)
		}
	}
	return seen, nil
}

// follow carries a plan out. Partitions that are given back are ones that nobody has begun to count.
func (w *worker) follow(ctx context.Context, p plan) error {
	unfinished := func(t *tenure) bool { return !t.isFinished() }
	if err := w.releaseIf(ctx, p.giveBack, unfinished); err != nil {
		return err
	}
	for _, partition := range p.take {
		lease, acquired, err := w.store.Acquire(ctx, group, partition, w.name, w.ttl)
		switch {
		case err != nil:
			return err
		case !acquired:
			continue // another worker was faster
		}
		if err := w.believe(gained, lease); err != nil {
			return err
		}
		w.hand.add(newTenure(ctx, w.clock, lease))
	}
	return nil
}

// believe records until when the worker counts on a lease. It does so only after that.
func (w *worker) believe(k kind, lease dynamolease.Lease) error {
	until := w.clock.deadline(lease)
	e := w.event(k, lease.Partition, lease.Epoch)
	e.Until = until
	return w.record.add(e)
}

func (w *worker) event(k kind, partition int, epoch int64) event {
	return event{At: w.clock.now(), Owner: w.name, Kind: k, Partition: partition, Epoch: epoch}
}
