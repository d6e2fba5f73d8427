package dynamolease_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// lossOf returns the reason that an error gives for a loss.
func lossOf(err error) (loss dynamolease.LossError) {
	var found *dynamolease.LossError
	if errors.As(err, &found) {
		loss = *found
	}
	return loss
}

// CO26: a session's Err says how it was lost, as does the heartbeat that finds it out, and the channel is closed by then.
func TestSessionLossCO26(t *testing.T) {
	for _, c := range []struct {
		name   string
		happen func(w *world, n *node)
		beats  bool // it is a heartbeat that finds it out
		want   dynamolease.LossReason
	}{
		{"CO26 row gone", func(w *world, n *node) { w.Delete(key("M#"+w.service, "N#"+n.session.ID())) }, true, dynamolease.LossGone},
		{"CO26 closed by another node", func(w *world, n *node) {
			row := n.sessionRow()
			row["exp"], row["left"], row["rev"] = number("1"), number("1"), text("other")
			w.Put(row)
		}, true, dynamolease.LossClosed},
		{"CO26 unreachable", func(w *world, n *node) {
			n.Path.Every("", dynamotest.Hang())
			for n.session.Remaining() > 0 {
				_, _ = n.session.Heartbeat(w.Context())
			}
		}, false, dynamolease.LossUnreachable},
		{"CO26 unreachable, and tries still", func(w *world, n *node) {
			n.Path.Every("", dynamotest.Hang())
			time.Sleep(ttl - time.Second)
			go func() { _, _ = n.session.Heartbeat(w.Context()) }()
			time.Sleep(time.Second)
		}, false, dynamolease.LossUnreachable},
		{"CO26 suspended", func(_ *world, n *node) { n.Step(2 * ttl) }, true, dynamolease.LossSuspended},
		{"CO26 no heartbeat", func(*world, *node) { time.Sleep(ttl) }, false, dynamolease.LossExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				n.open("a", ttl)
				n.beat()
				c.happen(w, n)
				if c.beats {
					_, err := n.session.Heartbeat(w.Context())
					n.wantOver(err, dynamolease.ErrSessionLost)
					if got := lossOf(err); got.Reason != c.want {
						w.Errorf("the heartbeat says %v, want %s", err, c.want)
					}
				}
				time.Sleep(time.Millisecond)
				err := n.session.Err()
				n.wantOver(err, dynamolease.ErrSessionLost)
				if got := lossOf(err); got.Reason != c.want || (got.Err != nil) != (c.want == dynamolease.LossUnreachable) {
					w.Errorf("Err says %v (%+v), want %s", err, got, c.want)
				}
			})
		})
	}
}

// CO26: a lease that Renew leaves out says why.
func TestLeaseLossCO26(t *testing.T) {
	for _, renewal := range []dynamolease.Renewal{dynamolease.Transactions, dynamolease.EachItem} {
		for _, c := range []struct {
			name   string
			happen func(w *world, n *node, lease dynamolease.Lease)
			want   dynamolease.LossReason
			owner  string
		}{
			{"CO26 taken", func(w *world, n *node, _ dynamolease.Lease) {
				w.Delete(w.leaseKey(1))
				w.node().acquire(1, "B")
			}, dynamolease.LossTaken, "B"},
			{"CO26 released", func(w *world, n *node, _ dynamolease.Lease) { w.node().release(1, "A") }, dynamolease.LossFreed, ""},
			{"CO26 gone", func(w *world, n *node, _ dynamolease.Lease) { w.Delete(w.leaseKey(1)) }, dynamolease.LossGone, ""},
			{"CO26 revoked", func(w *world, n *node, lease dynamolease.Lease) { w.node().revoke(1, lease.Epoch) }, dynamolease.LossRevoked, ""},
			{"CO26 expired", func(w *world, _ *node, _ dynamolease.Lease) { w.expire() }, dynamolease.LossExpired, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					n := w.node(func(o *dynamolease.Options) { o.Renewal = renewal })
					lease, kept := n.acquire(1, "A"), n.acquire(2, "A")
					n.renew("A", 1, 2)
					if lease.Loss() != nil {
						w.Errorf("lost before: %v", lease.Loss())
					}
					c.happen(w, n, lease)
					left := n.renew("A", 1, 2)
					if slices.ContainsFunc(left, func(l dynamolease.Lease) bool { return l.Partition == 1 }) {
						w.Fatal("it was renewed")
					}
					got := lossOf(lease.Loss())
					if got.Reason != c.want || got.Owner != c.owner || (got.Epoch > 0) != (c.owner != "") {
						w.Errorf("Loss says %v (%+v), want %s", lease.Loss(), got, c.want)
					}
					if c.want != dynamolease.LossExpired && kept.Loss() != nil {
						w.Errorf("the other lease was lost, too: %v", kept.Loss())
					}
				})
			})
		}
	}
}

// CO26: what a lost session's calls say is certain, although the heartbeats before were not answered.
func TestLossIsCertainCO26(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		a.open("a", ttl)
		a.Path.Every("", dynamotest.LoseResponse())
		for a.session.Err() == nil {
			if _, err := a.session.Heartbeat(w.Context()); err == nil {
				w.Fatal("a heartbeat without an answer has succeeded")
			}
			time.Sleep(time.Second)
		}
		_, err := a.session.Heartbeat(w.Context())
		var loss *dynamolease.LossError
		if !errors.Is(err, dynamolease.ErrSessionLost) || errors.Is(err, dynamolease.ErrUnknownOutcome) || !errors.As(err, &loss) || loss.Reason != dynamolease.LossUnreachable {
			w.Errorf("%v", err)
		}
	})
}
