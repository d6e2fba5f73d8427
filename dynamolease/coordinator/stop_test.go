package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A node that stops leaves the members first; then each partition is released when its handler has
// returned; the heartbeat goes on meanwhile; and the session ends last. Nothing is acquired.
func shutdown(w *world, mode coordinator.LeaseMode) {
	const partitions = 6
	a := w.start("a", partitions, inMode(mode), handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), coordinator.ErrShutdown) {
			w.Errorf("partition %d: %v", lease.Partition, context.Cause(ctx))
		}
		time.Sleep(time.Duration(lease.Partition+1) * interval) // up to 18 s, more than the ttl
		if lease.Remaining() == 0 {
			w.Errorf("partition %d has no lease any more", lease.Partition)
		}
		return nil
	}), grouped(func(g *coordinator.Group) { g.DrainTimeout = time.Minute }))
	w.within(round, "worked", func() bool { return w.balanced(partitions, a) })
	time.Sleep(round)
	session := a.State().Session
	a.path.Reset()
	began := time.Now()
	a.cancel()
	look := w.look()
	for returned := range partitions {
		time.Sleep(time.Until(began.Add(time.Duration(returned)*interval + interval/2)))
		owners, err := look.Owners(w.Context(), w.group)
		if err != nil || len(owners) != partitions-returned {
			w.Errorf("%v after the stop %d partitions are owned, %v", time.Since(began), len(owners), err)
		}
		members, err := look.Members(w.Context(), w.service)
		if err != nil || len(members) != 0 {
			w.Errorf("%v after the stop: members %v, %v", time.Since(began), members, err)
		}
	}
	<-a.over
	if a.err != nil {
		w.Error(a.err)
	}
	w.checkOrder(a.writes(session), partitions)
	if n := len(w.all(a)); n != partitions {
		w.Errorf("%d handlers ran", n)
	}
}

// checkOrder checks what a node wrote after its stop began.
func (w *world) checkOrder(writes []string, partitions int) {
	w.Helper()
	want := []string{leaves}
	for partition := range partitions {
		want = append(want, fmt.Sprint(releases, partition))
	}
	want = append(want, endsSession)
	beats := 0
	got := slices.DeleteFunc(slices.Clone(writes), func(write string) bool {
		if write == heartbeats {
			beats++
		}
		return write == heartbeats || write == renews
	})
	if !slices.Equal(got, want) {
		w.Errorf("the node wrote %q after the stop began, want %q", got, want)
	}
	if beats < partitions-2 {
		w.Errorf("%d heartbeats while %d handlers returned one after the other", beats, partitions)
	}
}

// A stop in the middle of many acquisitions, at any moment: none begins any more, nothing runs, and
// nothing stays held.
func stopWhileAcquiring(w *world, mode coordinator.LeaseMode) {
	const partitions = 100
	amid := 0 // stops that came while the node acquired
	for i := range 8 {
		a := w.prepare("a", partitions, inMode(mode))
		a.path.Latency(tick)
		a.begin(context.Background())
		w.within(2*time.Second, "acquiring", func() bool { return w.busy() > 0 })
		time.Sleep(time.Duration(i) * 4 * time.Millisecond)
		if w.busy() < partitions {
			amid++
		}
		a.cancel()
		a.path.Reset()
		stopped := time.Now()
		<-a.over
		if a.err != nil {
			w.Error(a.err)
		}
		if writes := a.writes(a.State().Session); slices.Contains(writes, acquires) {
			w.Errorf("the node wrote %q after the stop began", writes)
		}
		for _, r := range w.all(a) {
			if r.began.After(stopped) {
				w.Errorf("the handler of partition %d began %v after the stop", r.lease.Partition, r.began.Sub(stopped))
			}
		}
		if w.busy() != 0 {
			w.Errorf("%d handlers run", w.busy())
		}
		a.store.Close() // waits for what is given up in the background
		if owners, err := w.look().Owners(w.Context(), w.group); err != nil || len(owners) != 0 {
			w.Errorf("%d are held, %v", len(owners), err)
		}
	}
	if amid < 3 {
		w.Errorf("%d stops came while the node acquired", amid)
	}
}

// A node loses its session while it stops: it does not open another, although a handler still runs.
func sessionLostWhileStopping(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 2, inMode(mode), handling(func(ctx context.Context, _ coordinator.Assignment) error {
		<-ctx.Done()
		time.Sleep(5 * ttl)
		return nil
	}), grouped(func(g *coordinator.Group) { g.DrainTimeout = 10 * ttl }))
	w.settle(2, a)
	session := a.State().Session
	heal := a.path.Every("", dynamotest.Hang())
	a.cancel()
	w.within(ttl+tick, "lost", func() bool { return a.State().Remaining == 0 })
	heal()
	a.path.Reset()
	<-a.over
	if writes := a.writes(session); slices.Contains(writes, opensSession) || slices.Contains(writes, acquires) {
		w.Errorf("the node wrote %q while it stopped", writes)
	}
	if got := a.State().Session; got != session {
		w.Errorf("the session is %s, and was %s when the node began to stop", got, session)
	}
}

// What a node writes.
const (
	acquires     = "acquires"
	renews       = "renews"
	releases     = "releases "
	opensSession = "opens a session"
	heartbeats   = "heartbeat"
	leaves       = "leaves the members"
	endsSession  = "ends its session"
)

// writes returns what a node wrote since its path was reset, where its session was this one.
func (n *node) writes(session string) []string {
	n.w.Helper()
	var list []string
	for _, r := range n.path.Requests() {
		switch r.Op {
		case "TransactWriteItems":
			list = append(list, renews)
		case "UpdateItem":
			write := n.write(r.Body, session)
			if write == leaves && slices.Contains(list, leaves) { // later heartbeats say it again
				write = heartbeats
			}
			list = append(list, write)
		}
	}
	return list
}

// write names one UpdateItem.
func (n *node) write(body []byte, session string) string {
	n.w.Helper()
	var update struct {
		Key    struct{ PK, SK struct{ S string } }
		Values map[string]json.RawMessage `json:"ExpressionAttributeValues"`
	}
	if err := json.Unmarshal(body, &update); err != nil {
		n.w.Fatalf("%s: %v", body, err)
	}
	has := func(attribute string) bool { return update.Values[":"+attribute] != nil }
	var partition int
	_, err := fmt.Sscanf(update.Key.SK.S, "P#%d", &partition)
	switch isLease := err == nil; {
	case isLease && has("owner"):
		return acquires
	case isLease:
		return fmt.Sprint(releases, partition)
	case update.Key.SK.S != "N#"+session:
		return opensSession
	case string(update.Values[":exp"]) == `{"N":"1"}`:
		return endsSession
	case has("left"):
		return leaves
	default:
		return heartbeats
	}
}
