package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A partition that comes free without a signal is worked although the node whose share it is cannot
// read the owners: while a holder of a lease does not signal, the other nodes read them now and then.
func TestRefreshWithoutSignals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world){
		"given up by a node that leaves":         leaversSilent,
		"left by a former process of the node":   restartedSilent,
		"expired of a former process":            expiredSilent,
		"held by a program that does not signal": strangersSilent,
		"one starts to signal as another leaves": signalsInExchange,
		"lost before it has expired":             inDoubt(denied, 60),
		"revoked long before it expires":         inDoubt(revokedFrom, 1),
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// slowly returns from some partitions at once, and from the others after some rounds.
func slowly(quick func(partition int) bool) setting {
	return func(c *coordinator.Config) {
		c.Groups[0].DrainTimeout = 40 * round
		handling(func(ctx context.Context, lease coordinator.Assignment) error {
			<-ctx.Done()
			if !quick(lease.Partition) {
				time.Sleep(20 * round)
			}
			return context.Cause(ctx)
		})(c)
	}
}

// silentFleet is a fleet of three, of which c can't look any more, and d hands over what a lacks at
// once, and the rest much later.
func silentFleet(w *world) (a, d *node) {
	var quick atomic.Int64
	a = w.start("a", quietly)
	c := w.start("c", quietly)
	d = w.start("d", quietly, slowly(func(int) bool { return quick.Add(1) <= quietly/6 }))
	w.settle(quietly, a, c, d)
	time.Sleep(8 * round)
	c.path.Every("Query", onRow("L#", dynamotest.Throttle()))
	return a, d
}

func leaversSilent(w *world) {
	a, d := silentFleet(w)
	d.cancel()
	w.within(70*round, "worked by the other", func() bool { return len(w.works(a)) == quietly*2/3 })
	<-d.over
}

func restartedSilent(w *world) {
	a, d := w.start("a", quietly, short), w.start("d", quietly, short)
	w.settle(quietly, a, d)
	time.Sleep(8 * round)
	d.crash()
	again := w.prepare("d", quietly, short)
	again.path.Every("Query", onRow("L#", dynamotest.Throttle()))
	again.begin(context.Background())
	w.within(2*time.Second+grace+8*round, "worked by the other", func() bool { return len(w.works(a)) == quietly })
}

// The plain leases of a former process expire some time after its session is known to be over.
func expiredSilent(w *world) {
	const partitions = 120 // nobody looks at so many without a reason in 20 seconds
	a, d := w.start("a", partitions, short, inMode(coordinator.PerLease)), w.start("d", partitions, short, inMode(coordinator.PerLease))
	w.within(4*time.Second, "in balance", func() bool { return w.balanced(partitions, a, d) })
	time.Sleep(8 * time.Second)
	d.crash()
	again := w.prepare("d", partitions, short, inMode(coordinator.PerLease))
	again.path.Every("Query", onRow("L#", dynamotest.Throttle()))
	again.begin(context.Background())
	w.within(2*time.Second+grace+time.Second, "worked by the other", func() bool { return len(w.works(a)) == partitions })
}

// short is so short that a ttl's rounds are over while the store's time is still in doubt.
func short(c *coordinator.Config) { c.TTL, c.Interval = 2*time.Second, 200*time.Millisecond }

// A program that uses sessions without a coordinator signals nothing.
func strangersSilent(w *world) {
	store := w.look()
	defer store.Close()
	mute, err := store.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "mute", Address: "mute:1", Groups: []string{w.group}}, ttl)
	if err != nil {
		w.Fatal(err)
	}
	beating := every(interval, func() { _, _ = mute.Heartbeat(context.Background()) })
	defer beating()
	for partition := range quietly / 2 {
		if _, acquired, err := mute.Acquire(w.Context(), w.group, partition); err != nil || !acquired {
			w.Fatalf("acquired %v, %v", acquired, err)
		}
	}
	a := w.start("a", quietly)
	w.within(10*round, "shared", func() bool { return len(w.works(a)) == quietly/2 })
	time.Sleep(10 * round)
	if _, err := mute.Release(w.Context(), w.group, 0); err != nil {
		w.Fatal(err)
	}
	w.within(40*round, "worked", func() bool { return len(w.works(a)) == quietly/2+1 })
}

// every calls f again and again, until it is told to stop.
func every(d time.Duration, f func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(d):
				f()
			}
		}
	}()
	return func() { cancel(); <-over }
}

// A drained node that has signalled leaves at the moment in which another signals for the first
// time.
func signalsInExchange(w *world) {
	a := w.start("a", quietly)
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	store := w.look()
	defer store.Close()
	open := func(name string) *dynamolease.Session {
		session, err := store.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: name, Address: name + ":1", Groups: []string{w.group}}, 2*time.Hour)
		if err == nil {
			err = store.Drain(w.Context(), w.service, name)
		}
		if err != nil {
			w.Fatal(err)
		}
		return session
	}
	beat := func(s *dynamolease.Session) {
		if _, err := s.Heartbeat(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
	leaver, other := open("l"), open("o")
	leaver.Signal()
	other.Signal()
	beat(leaver)
	beat(other)
	time.Sleep(15 * round)
	w.deleteRow(7) // the node that signals has seen it
	heal := a.path.Every("Query", onRow("M#", dynamotest.Throttle()))
	other.Signal()
	beat(other)
	if err := leaver.Close(w.Context()); err != nil {
		w.Fatal(err)
	}
	heal()
	w.within(16*round, "noticed", func() bool { return len(w.history(7)) == 2 })
}

// inDoubt is a fleet of two whose rounds are so short that a few of them are less than the store's
// time may be in doubt. A lease of a is lost before it has expired, and a neither returns from it
// nor looks.
func inDoubt(lose func(w *world, a *node), lost int) func(w *world) {
	return func(w *world) {
		const partitions = 120 // nobody looks at so many without a reason in 20 seconds
		a := w.start("a", partitions, stuck(w, "a"), inMode(coordinator.PerLease), short)
		w.within(2*time.Second, "taken", func() bool { return w.busy() == partitions })
		b := w.start("b", partitions, inMode(coordinator.PerLease), short)
		w.within(4*time.Second, "in balance", func() bool { return len(w.works(b)) == partitions/2 })
		time.Sleep(4 * time.Second)
		a.path.Every("Query", onRow("L#", dynamotest.AccessDenied()))
		lose(w, a)
		w.within(2*time.Second+grace+3*time.Second, "worked elsewhere", func() bool { return len(w.works(b)) == partitions/2+lost })
	}
}

func denied(_ *world, a *node) { a.path.Every("", onRow("L#", dynamotest.AccessDenied())) }

func revokedFrom(w *world, a *node) {
	lease := w.history(w.works(a)[0])[0].lease
	if _, _, err := w.look().Revoke(w.Context(), w.group, lease.Partition, lease.Epoch); err != nil {
		w.Fatal(err)
	}
}
