package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A session must learn of an order for whatever it holds afterwards, at whatever point of its calls the order is given.
func TestRevokeRaces(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"while the session acquires":                               revokeWhileAcquiring,
		"while the answer to an acquisition is lost":               revokeLostAcquisition,
		"while a release fails, and the session acquires again":    revokeFailedRelease,
		"and the session asks for the lease before it knows":       revokeAskedFor,
		"of a holder that is over, by a slow operator":             revokeOverSlowly,
		"of a holder that is over, with an answer that is lost":    revokeOverLost,
		"of a holder that is over, whose late request revives it":  revokeOverRevived,
		"of a holder that is over, that comes too late":            revokeOverLate,
		"of a holder that is over, and a next one that is unknown": revokeOverHidden,
		"of a dead session that another one takes over meanwhile":  revokeOverTaken,
		"of a row that is deleted meanwhile":                       revokeDeletedRow,
		"where the session has its order, and no more comes of it": revokeHalf,
		"where the last request fails":                             revokeFailed,
		"where a heartbeat takes an order whose answer is lost":    revokeTaken(dynamotest.LoseResponse()),
		"where a heartbeat takes an order that comes twice":        revokeTaken(dynamotest.Twice()),
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// revokeNow revokes what is in the row of a partition, from within a request of the holder, and has the session learn of it.
func (n *node) revokeNow(operator *node, partition int) {
	n.w.Helper()
	operator.revoke(partition, n.epochOf(partition))
	n.beat()
}

// epochOf reads the epoch in the row of a partition; 1 where there is none.
func (n *node) epochOf(partition int) int64 {
	n.w.Helper()
	epoch, err := strconv.ParseInt(numberOf(n.row(partition)["epoch"]), 10, 64)
	if err != nil {
		return 1 // there is no row
	}
	return epoch
}

func revokeWhileAcquiring(w *world) {
	holder, operator := w.node(), w.node()
	holder.open("A", ttl)
	holder.Path.Next("UpdateItem", dynamotest.Around(nil, func() { holder.revokeNow(operator, 1) }))
	lease, acquired, err := holder.session.Acquire(w.Context(), w.group, 1)
	if err != nil || acquired && !lease.Revoked() {
		w.Errorf("%+v, %v, %v: the session does not know", lease, acquired, err)
	}
	end := time.Now().Add(ttl)
	for time.Now().Before(end) {
		time.Sleep(ttl / 4)
		holder.beat()
	}
	if left := lease.Remaining(); left > 0 {
		w.Errorf("%v left", left)
	}
}

func revokeLostAcquisition(w *world) {
	holder, operator := w.node(), w.node()
	holder.open("A", ttl)
	holder.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, func() { holder.revokeNow(operator, 1) }), dynamotest.LoseResponse()))
	if lease, acquired, err := holder.session.Acquire(w.Context(), w.group, 1); err != nil || acquired && !lease.Revoked() {
		w.Errorf("%+v, %v, %v: the session does not know", lease, acquired, err)
	}
}

func revokeFailedRelease(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	// Between the order to the session and the mark on the lease.
	operator.Path.Next("UpdateItem", dynamotest.Around(nil, func() {
		holder.beat()
		holder.Path.Next("UpdateItem", dynamotest.AccessDenied())
		if _, err := holder.session.Release(w.Context(), w.group, 1); err == nil {
			w.Error("released")
		}
		again, acquired, err := holder.session.Acquire(w.Context(), w.group, 1)
		if err != nil || !acquired || again.Epoch != lease.Epoch {
			w.Errorf("acquired %+v, %v, %v", again, acquired, err)
		}
		lease = again
	}))
	operator.revoke(1, lease.Epoch)
	holder.beat()
	if !lease.Revoked() {
		w.Error("the session does not know")
	}
}

func revokeAskedFor(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	time.Sleep(ttl / 4)
	operator.revoke(1, lease.Epoch)
	left := lease.Remaining()
	if own, acquired, err := holder.session.Acquire(w.Context(), w.group, 1); err != nil || acquired || own.Session != holder.session.ID() {
		w.Errorf("acquired %+v, %v, %v", own, acquired, err)
	}
	if !lease.Revoked() || lease.Remaining() != left {
		w.Errorf("revoked: %v, %v left of %v", lease.Revoked(), lease.Remaining(), left)
	}
	holder.beat()
	if lease.Remaining() != left {
		w.Errorf("the heartbeat extends it to %v", lease.Remaining())
	}
	if err := holder.session.ReleaseAll(w.Context()); err != nil {
		w.Fatal(err)
	}
	if _, done := operator.revoke(1, lease.Epoch); !done {
		w.Error("the session has not released it with all others")
	}
}

func revokeOverSlowly(w *world) {
	holder, operator := w.node(), w.node()
	plain, session := holder.acquire(1, "A"), holder.holding("A", 2)
	w.expire()
	operator.Path.Latency(500 * time.Millisecond)
	for _, lease := range []dynamolease.Lease{plain, session} {
		if found, done := operator.revoke(lease.Partition, lease.Epoch); !done || found.Owner != "" || found.Epoch != lease.Epoch+1 {
			w.Errorf("revoked %+v, %v", found, done)
		}
	}
}

func revokeOverRevived(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.acquire(1, "A")
	time.Sleep(ttl * 9 / 10)
	late := newMailbox()
	holder.Path.Next("", late.post())
	_, err := holder.Renew(w.giveUp(), w.group, []int{1}, "A", ttl)
	w.wantUnknown("renew", err)
	time.Sleep(ttl/10 + graceOfExpiry)
	operator.Path.Next("GetItem", dynamotest.Around(late.deliver, nil)) // it was found to be over before
	found, done := operator.revoke(1, lease.Epoch)
	if done || found.Owner != "A" {
		w.Fatalf("revoked %+v, %v", found, done)
	}
	if renewed := holder.renew("A", 1); len(renewed) > 0 {
		w.Errorf("renewed after it was revoked: %+v", renewed)
	}
}

func revokeOverLost(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.acquire(1, "A")
	w.expire()
	operator.Path.Next("UpdateItem", dynamotest.LoseResponse())
	operator.Path.Next("UpdateItem", dynamotest.LoseResponse())
	if found, done := operator.revoke(1, lease.Epoch); !done || found.Owner != "" || found.Epoch != lease.Epoch+1 {
		w.Errorf("revoked %+v, %v", found, done)
	}
	if row := holder.row(1); row["owner"] != nil || holder.epochOf(1) != lease.Epoch+1 {
		w.Errorf("the row is %v", row)
	}
}

// The attempt whose answer is lost frees the lease. A session takes it, and the operator may not look at sessions.
func revokeOverHidden(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.acquire(1, "A")
	w.expire()
	other.open("B", ttl)
	operator.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, func() {
		if _, acquired, err := other.session.Acquire(w.Context(), w.group, 1); err != nil || !acquired {
			w.Errorf("acquired %v, %v", acquired, err)
		}
		operator.Path.Next("GetItem", dynamotest.AccessDenied())
	}), dynamotest.LoseResponse()))
	if found, done, err := operator.Revoke(w.Context(), w.group, 1, lease.Epoch); done || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Errorf("revoked %+v, %v, %v", found, done, err)
	}
	if epoch := holder.epochOf(1); epoch != lease.Epoch+2 {
		w.Errorf("the epoch is %d after %d", epoch, lease.Epoch)
	}
}

func revokeOverLate(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.acquire(1, "A")
	w.expire()
	deliver := make(chan struct{})
	operator.Path.Every("UpdateItem", dynamotest.Late(deliver))
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	defer cancel()
	if _, done, err := operator.Revoke(ctx, w.group, 1, lease.Epoch); done || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Errorf("revoked: %v, %v", done, err)
	}
	next := other.acquire(1, "B")
	close(deliver)
	operator.Path.Close()
	if got := w.node().owners(); len(got) != 1 || got[0].Owner != "B" || got[0].Epoch != next.Epoch {
		w.Errorf("owners are %+v", got)
	}
}

func revokeOverTaken(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.holding("A", 1)
	w.expire()
	var next dynamolease.Lease
	operator.Path.Next("UpdateItem", dynamotest.Around(func() { next = other.holding("B", 1) }, nil))
	if found, done := operator.revoke(1, lease.Epoch); !done || found.Owner != "B" || found.Epoch != next.Epoch {
		w.Errorf("revoked %+v, %v", found, done)
	}
	if next.Remaining() == 0 || next.Revoked() || other.row(1)["revoked"] != nil {
		w.Errorf("the next lease: %+v", next)
	}
}

func revokeDeletedRow(w *world) {
	for _, over := range []bool{false, true} {
		holder, operator := w.node(), w.node()
		lease := holder.acquire(1, "A")
		if over {
			w.expire()
		}
		operator.Path.Next("GetItem", dynamotest.Around(func() { w.deleteRow(1) }, nil))
		if found, done := operator.revoke(1, lease.Epoch); !done || found.Owner != "" || found.Partition != 1 {
			w.Errorf("over: %v, revoked %+v, %v", over, found, done)
		}
	}
}

func revokeFailed(w *world) {
	for _, over := range []bool{false, true} {
		for _, op := range []string{"Query", "GetItem", "UpdateItem"} {
			holder, operator := w.node(), w.node()
			lease := holder.acquire(1, "A")
			if over {
				w.expire()
			}
			operator.Path.Next(op, dynamotest.AccessDenied())
			var setup *dynamolease.SetupError
			if found, done, err := operator.Revoke(w.Context(), w.group, 1, lease.Epoch); done || !errors.As(err, &setup) || found.Group != "" {
				w.Errorf("%s, over: %v: revoked %+v, %v, %v", op, over, found, done, err)
			}
			operator.untilRevoked(1, lease.Epoch)
		}
	}
}

func revokeHalf(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	operator.Path.Next("UpdateItem", dynamotest.Delay(0))
	operator.Path.Next("UpdateItem", dynamotest.AccessDenied())
	if _, done, err := operator.Revoke(w.Context(), w.group, 1, lease.Epoch); done || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Errorf("revoked: %v, %v", done, err)
	}
	holder.beat()
	if _, done := operator.revoke(1, lease.Epoch); done || !lease.Revoked() {
		w.Errorf("revoked: %v, and the session knows: %v", done, lease.Revoked())
	}
	if _, acquired, err := holder.session.Acquire(w.Context(), w.group, 1); acquired || err != nil {
		w.Errorf("acquired: %v, %v", acquired, err)
	}
}

// revokeTaken has the session learn of an order at once, and never lets the operator write another: the row does not show
// that there was one.
func revokeTaken(fault dynamotest.Fault) func(w *world) {
	return func(w *world) {
		holder, operator := w.node(), w.node()
		lease := holder.holding("A", 1)
		first, others := dynamotest.All(fault, dynamotest.Around(nil, holder.beat)), dynamotest.Around(holder.beat, nil)
		operator.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			next := first
			first = others
			return next(req, send)
		})
		if found, done, err := operator.Revoke(w.Context(), w.group, 1, lease.Epoch); done || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("revoked %+v, %v, %v", found, done, err)
		}
		if !lease.Revoked() {
			w.Error("the session does not know")
		}
	}
}
