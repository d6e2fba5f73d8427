package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// sessionOperations are those of sessions. Sessions for calls without a ttl live longer than these may take.
var sessionOperations = []operation{
	{name: "OpenSession", request: "UpdateItem", write: true, prepare: func(*node) {}, call: callOpen, check: checkMember},
	{name: "Session.Heartbeat", request: "UpdateItem", write: true, prepare: func(n *node) { n.open("a", ttl) }, call: callBeat, check: checkMember},
	{name: "Session.Acquire", request: "UpdateItem", write: true, undone: true, prepare: prepareSession, call: callTake, check: checkAcquired},
	{name: "Session.Acquire, reading", request: "GetItem", prepare: prepareSession, call: callTake, check: checkAcquired},
	{name: "Session.Acquire, closing the dead one", request: "UpdateItem", then: 1, prepare: prepareDead, call: callTake, check: checkAcquired},
	{name: "Session.Acquire, taking over", request: "UpdateItem", write: true, undone: true, prepare: prepareClosed, call: callTake, check: checkAcquired},
	{name: "Acquire, closing a dead session", request: "UpdateItem", then: 1, prepare: prepareDead, call: callAcquire, check: checkAcquired},
	{name: "Acquire, taking over", request: "UpdateItem", write: true, undone: true, prepare: prepareClosed, call: callAcquire, check: checkAcquired},
	{name: "Session.Release", request: "UpdateItem", write: true, untimed: true, prepare: prepareTaken, call: callGiveBack, check: checkReleased},
	{name: "Session.ReleaseAll", request: "UpdateItem", write: true, untimed: true, prepare: prepareTaken, call: callReleaseAll, check: checkReleased},
	{name: "AcquireAll", request: "TransactWriteItems", write: true, looks: true, undone: true, prepare: prepareFree, call: callAcquireAll, check: checkBoth},
	{name: "AcquireAll, reading", request: "Query", prepare: prepareFree, call: callAcquireAll, check: checkBoth},
}

// fencedOperations are those that write under a lease.
var fencedOperations = []operation{
	{name: "Checkpoint", request: "UpdateItem", write: true, untimed: true, prepare: prepareFenced, call: callCheckpoint, check: checkCheckpoint},
	{name: "Checkpoint under another store's lease", request: "UpdateItem", write: true, untimed: true, prepare: prepareFencedElsewhere, call: callCheckpoint, check: checkCheckpoint},
	{name: "Transact", request: "TransactWriteItems", write: true, untimed: true, prepare: prepareFenced, call: callTransact, check: checkTransacted},
	{name: "Transact under another store's lease", request: "TransactWriteItems", write: true, untimed: true, prepare: prepareFencedElsewhere, call: callTransact, check: checkTransacted},
	{name: "Resume", request: "UpdateItem", untimed: true, prepare: prepareResume, call: callResume, check: checkCheckpoint},
	{name: "Resume, reading", request: "GetItem", untimed: true, prepare: prepareResume, call: callResume, check: checkCheckpoint},
}

func prepareSession(n *node) {
	prepareFree(n)
	n.open("a", ttl)
}

// prepareDead has partition 1 held, at epoch 7, by a session that died.
func prepareDead(n *node) {
	n.plantExpired(6)
	dead := n.w.node()
	dead.open("z", ttl)
	dead.take(1)
	n.w.expire()
	n.open("a", ttl)
}

// prepareClosed is prepareDead, and somebody has closed the session since.
func prepareClosed(n *node) {
	n.plantExpired(6)
	dead := n.w.node()
	dead.open("z", ttl)
	dead.take(1)
	dead.take(2)
	n.w.expire()
	n.w.node().acquire(2, "y")
	n.open("a", ttl)
}

func prepareTaken(n *node) {
	n.plantExpired(6)
	n.open("a", 6*ttl)
	n.take(1)
}

func prepareFenced(n *node) {
	n.plantExpired(6)
	n.lease = n.acquire(1, "a")
}

func prepareFencedElsewhere(n *node) {
	n.plantExpired(6)
	n.lease = n.w.node().acquire(1, "a")
}

func prepareResume(n *node) {
	prepareFenced(n)
	n.checkpoint("6")
}

// callResume goes on with the lease that it resumed.
func callResume(ctx context.Context, n *node) error {
	lease, err := n.Resume(ctx, n.lease)
	if err == nil {
		n.lease = lease
		if string(lease.Checkpoint) != "6" || lease.Epoch != 7 {
			n.w.Errorf("resumed %+v", lease)
		}
	}
	return err
}

func callOpen(ctx context.Context, n *node) (err error) {
	n.session, err = n.OpenSession(ctx, dynamolease.Node{Service: n.w.service, Name: "a", Address: "new:1"}, ttl)
	if err == nil && n.session.Remaining() < ttl*4/5 {
		n.w.Errorf("%v remaining of %v", n.session.Remaining(), ttl)
	}
	return err
}

func callBeat(ctx context.Context, n *node) error {
	_, err := n.session.Heartbeat(ctx)
	if err == nil && (n.session.Remaining() < ttl*4/5 || n.session.Err() != nil) {
		n.w.Errorf("%v remaining of %v, %v", n.session.Remaining(), ttl, n.session.Err())
	}
	return err
}

func callTake(ctx context.Context, n *node) error {
	lease, acquired, err := n.session.Acquire(ctx, n.w.group, 1)
	if err == nil && !acquired {
		n.w.Errorf("not acquired: %+v", lease)
	}
	if err == nil && acquired {
		row := n.row(1)
		if textOf(row["session"]) != n.session.ID() || numberOf(row["epoch"]) != decimal(lease.Epoch) || lease.Remaining() != n.session.Remaining() {
			n.w.Errorf("lease %+v with %v left, but the row is of %s, epoch %s", lease, lease.Remaining(), textOf(row["session"]), numberOf(row["epoch"]))
		}
	}
	return err
}

func callGiveBack(ctx context.Context, n *node) error {
	_, err := n.session.Release(ctx, n.w.group, 1)
	return err
}

func callReleaseAll(ctx context.Context, n *node) error { return n.session.ReleaseAll(ctx) }

func callAcquireAll(ctx context.Context, n *node) error {
	leases, acquired, err := n.AcquireAll(ctx, n.w.group, []int{2, 1}, "a", ttl)
	if err == nil && (!acquired || partitionsOf(leases) != "1 2") {
		n.w.Errorf("acquired %v: %+v", acquired, leases)
	}
	if err == nil && acquired {
		n.wantOwnLease(leases[0])
	}
	return err
}

func callCheckpoint(ctx context.Context, n *node) error {
	return n.Checkpoint(ctx, n.lease, []byte("6"))
}

// callTransact is content when the call before turns out to have been applied: that is the truth about it.
func callTransact(ctx context.Context, n *node) error {
	err := n.Transact(ctx, n.lease, []byte("6"), n.w.increment("counter"))
	if errors.Is(err, dynamolease.ErrEarlierApplied) {
		return nil
	}
	return err
}

func checkBoth(n *node) {
	checkAcquired(n)
	if owner := textOf(n.row(2)["owner"]); owner != "a" {
		n.w.Errorf("the owner of 2 is %q", owner)
	}
}

func checkCheckpoint(n *node) {
	checkKept(n)
	n.wantCheckpoint("6")
}

// checkTransacted wants it done once, also where a call whose outcome was unknown was repeated.
func checkTransacted(n *node) {
	checkCheckpoint(n)
	if count := n.w.count("counter"); count != "1" {
		n.w.Errorf("the counter is %q", count)
	}
}

func (n *node) wantCheckpoint(want string) {
	n.w.Helper()
	got, _ := n.row(1)["checkpoint"].(*types.AttributeValueMemberB)
	if got == nil || string(got.Value) != want {
		n.w.Errorf("checkpoint %v, want %q", got, want)
	}
}

// A heartbeat that is sent before the session's end and answered after it does not bring it back.
func TestSessionAnswerAfterTheEnd(t *testing.T) {
	slow := dynamotest.Around(nil, func() { time.Sleep(1001 * time.Millisecond) })
	for name, fault := range map[string]dynamotest.Fault{
		"late": slow, "hung": dynamotest.HangAfter(),
		"lost": dynamotest.All(slow, dynamotest.LoseResponse()), "500": dynamotest.All(slow, after(dynamotest.ServerError(500))),
	} {
		t.Run("LS38/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				time.Sleep(ttl - time.Second)
				stop := a.Path.Every("UpdateItem", fault)
				_, err := a.session.Heartbeat(w.Context())
				stop()
				a.wantLost(err)
				if lease.Remaining() != 0 {
					w.Errorf("%v left", lease.Remaining())
				}
				a.Path.Reset()
				for range 3 {
					_, err := a.session.Heartbeat(w.Context())
					a.wantLost(err)
				}
				if a.Path.Count("") != 0 {
					w.Errorf("%d requests for a session that is over", a.Path.Count(""))
				}
				w.expire()
				if next := b.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
					w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
				}
			})
		})
	}
}

// After any error the next heartbeat works.
func TestHeartbeatSurvivesAnyError(t *testing.T) {
	for _, fault := range faults {
		t.Run("C28/"+fault.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.open("a", ttl)
				ctx, cancel := context.WithTimeout(w.Context(), time.Second)
				defer cancel()
				stop := a.Path.Every("", fault.fault)
				_, err := a.session.Heartbeat(ctx)
				stop()
				if (err == nil) != (fault.kind == harmless) {
					w.Errorf("heartbeat: %v", err)
				}
				if left := a.session.Remaining(); left < ttl-1001*time.Millisecond || a.session.Err() != nil {
					w.Errorf("%v left, %v", left, a.session.Err())
				}
				a.beat()
			})
		})
	}
}

// A heartbeat that waits for another ends with its context, like every call.
func TestSessionHeartbeatWhileAnotherHangs(t *testing.T) {
	t.Run("LS34", func(t *testing.T) {
		w := newWorld(t)
		a := w.node()
		a.open("a", time.Minute)
		door := dynamotest.NewDoor()
		a.Path.Next("UpdateItem", door.Hold)
		first := make(chan error, 1)
		go func() { _, err := a.session.Heartbeat(context.Background()); first <- err }()
		<-door.Arrived()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		second := make(chan error, 1)
		go func() { _, err := a.session.Heartbeat(ended); second <- err }()
		select {
		case err := <-second:
			if err == nil {
				t.Error("a heartbeat whose context had ended succeeded")
			}
			door.Release()
			if err := <-first; err != nil {
				t.Error(err)
			}
		case err := <-first:
			t.Errorf("the second call outlasted the first, which ended with %v", err)
			<-second
		}
	})
}

// wantLost expects that a session is over, and says why.
func (n *node) wantLost(err error) {
	n.w.Helper()
	n.wantOver(err, dynamolease.ErrSessionLost)
}
