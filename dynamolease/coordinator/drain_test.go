package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

func TestDrain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world, mode coordinator.LeaseMode){
		"a node hands everything over until it is undrained": drained,
		"a node that joins takes nothing":                    drainedBefore,
		"all nodes":                                          drainedAll,
	} {
		t.Run(name, func(t *testing.T) { inBothModes(t, test) })
	}
}

func (w *world) drain(name string, on bool) {
	w.Helper()
	set := w.look().Undrain
	if on {
		set = w.look().Drain
	}
	if err := set(context.Background(), w.service, name); err != nil {
		w.Fatal(err)
	}
}

func drained(w *world, mode coordinator.LeaseMode) {
	const partitions = 12
	a, b := w.start("a", partitions, inMode(mode)), w.start("b", partitions, inMode(mode))
	w.settle(partitions, a, b)
	moves := w.moves()
	w.drain("a", true)
	w.within(3*round, "handed over", func() bool { return w.balanced(partitions, b) })
	w.always(10*round, "kept", func() bool { return w.balanced(partitions, b) })
	if n := w.moves() - moves; n != partitions/2 {
		w.Errorf("%d moves", n)
	}
	if state := a.State(); len(state.Groups[0].Leases) != 0 || !state.Alive || len(state.Members) != 2 {
		w.Errorf("the state is %+v", state)
	}
	w.drain("a", false)
	w.within(4*round, "shared again", func() bool { return w.balanced(partitions, a, b) })
}

func drainedBefore(w *world, mode coordinator.LeaseMode) {
	w.drain("b", true)
	a, b := w.start("a", 5, inMode(mode)), w.start("b", 5, inMode(mode))
	w.settle(5, a)
	w.always(10*round, "alone", func() bool { return w.balanced(5, a) })
	b.stop()
	b = w.start("b", 5, inMode(mode))
	w.always(5*round, "alone after a restart", func() bool { return w.balanced(5, a) })
	a.crash()
	w.always(3*ttl, "drained, though nobody else is there", func() bool { return len(w.works(b)) == 0 })
	w.drain("b", false)
	w.within(3*round, "taken", func() bool { return w.balanced(5, b) })
}

func drainedAll(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 5, inMode(mode)), w.start("b", 5, inMode(mode))
	w.settle(5, a, b)
	w.drain("a", true)
	w.drain("b", true)
	w.within(3*round, "idle", func() bool { return w.busy() == 0 })
	w.always(5*round, "idle", func() bool { return w.busy() == 0 })
	w.drain("a", false)
	w.within(3*round, "taken", func() bool { return w.balanced(5, a) })
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world, mode coordinator.LeaseMode){
		"a partition runs again, with a greater epoch":     revoked,
		"from a handler that is stuck, where others go on": revokedStuck,
	} {
		t.Run(name, func(t *testing.T) { inBothModes(t, test) })
	}
}

// revoke calls until the lease that is there now is taken from its holder.
func (w *world) revoke(partition int, within time.Duration) {
	w.Helper()
	operator := w.look()
	leases, err := operator.Owners(context.Background(), w.group)
	if err != nil {
		w.Fatal(err)
	}
	for _, lease := range leases {
		if lease.Partition != partition {
			continue
		}
		w.within(within, "revoked", func() bool {
			_, done, err := operator.Revoke(context.Background(), w.group, partition, lease.Epoch)
			if err != nil {
				w.Fatal(err)
			}
			return done
		})
	}
}

func revoked(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 4, inMode(mode))
	w.settle(4, a)
	w.revoke(2, ttl+grace)
	w.within(2*round+ttl, "worked again", func() bool { return w.balanced(4, a) })
	runs := w.history(2)
	if len(runs) != 2 || runs[1].lease.Epoch <= runs[0].lease.Epoch {
		w.Errorf("runs are %+v", runs)
	}
	if cause := runs[0].cause; mode == coordinator.Sessions && !errors.Is(cause, coordinator.ErrRevoked) {
		w.Errorf("the handler was told %v", cause)
	}
	if n := len(w.history(1)); n != 1 {
		w.Errorf("another partition ran %d times", n)
	}
}

func revokedStuck(w *world, mode coordinator.LeaseMode) {
	w.lenient = true
	free := make(chan struct{})
	defer close(free)
	stuck := handling(func(ctx context.Context, lease coordinator.Assignment) error {
		if lease.Partition == 0 {
			<-free
		}
		return wait(ctx, lease)
	})
	drain := grouped(func(g *coordinator.Group) { g.DrainTimeout = interval })
	w.start("a", 1, inMode(mode), stuck, drain)
	w.within(2*round, "taken", func() bool { return w.busy() == 1 })
	b := w.start("b", 1, inMode(mode))
	time.Sleep(2 * round)
	w.revoke(0, 2*ttl+grace)
	// It is free now, but a's share. After ten rounds b looks again, and some rounds later it
	// takes what a does not.
	w.within(15*round, "taken by the other", func() bool { return len(w.works(b)) == 1 })
}
