package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestRelease(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"a holder that renews":                     releaseRenewed,
		"a holder that is dead":                    releaseDead,
		"a session that lives and releases":        releaseInSession,
		"a session that is dead":                   releaseDeadSession,
		"a session that freezes and wakes":         releaseFrozen,
		"a session that keeps it":                  releaseKept,
		"a coordinator gives it away":              releaseCoordinator,
		"a coordinator whose handler is stuck":     releaseStuck,
		"nobody holds it":                          releaseNothing,
		"interrupted, and gone on with":            releaseInterrupted,
		"no answer ever comes":                     releaseUnanswered,
		"the store is away for a while after that": releaseOutage,
		"the order only":                           releaseOrder,
		"no answer, and then no permission":        releaseDenied,
		"no answer, and then the store is away":    releaseAway,
		"the permission ends after the order":      releaseDeniedLater,
		"interrupted before the order":             releaseUnordered,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// take releases partition 1, and expects that it works out within d.
func (p *party) take(d time.Duration) operate.Released {
	p.w.Helper()
	out, err := p.Release(p.w.Context(), p.held(1), p.waiting(d))
	if err != nil || !out.Done {
		p.w.Fatalf("released %+v, %v; said %q", out, err, p.said)
	}
	return out
}

func releaseRenewed(w *world) {
	holder, operator := w.party(), w.party()
	lease := holder.acquire(1, "A")
	stop := w.until(func() {
		if left, err := holder.Store.Renew(w.Context(), group, []int{1}, "A", ttl); err != nil {
			w.Error(err)
		} else if len(left) > 0 {
			lease = left[0]
		}
	})
	defer stop()
	time.Sleep(ttl)
	out := operator.take(ttl + grace)
	if lease.Remaining() > 0 || out.Owner != "" || out.Epoch <= lease.Epoch || out.FromEpoch != lease.Epoch {
		w.Errorf("released %+v, while the holder has %v left", out, lease.Remaining())
	}
	if len(operator.said) == 0 || !strings.Contains(operator.said[0], "waiting until A releases it or it has expired") {
		w.Errorf("said %q", operator.said)
	}
}

func releaseDead(w *world) {
	lease := w.party().acquire(1, "A")
	if out := w.party().take(ttl + grace); lease.Remaining() > 0 || out.Epoch <= lease.Epoch {
		w.Errorf("released %+v, while the holder has %v left", out, lease.Remaining())
	}
}

func releaseInSession(w *world) {
	holder, operator := w.party(), w.party()
	session, lease := holder.session("a", 1)
	stop := w.until(func() {
		if _, err := session.Heartbeat(w.Context()); err != nil {
			w.Error(err)
		}
		if lease.Revoked() {
			if _, err := session.Release(w.Context(), group, 1); err != nil {
				w.Error(err)
			}
		}
	})
	defer stop()
	out := operator.take(2 * interval)
	if out.Owner != "" || out.Epoch < lease.Epoch || session.Err() != nil {
		w.Errorf("released %+v, the session: %v", out, session.Err())
	}
	if len(operator.said) == 0 || !strings.Contains(operator.said[0], "waiting until session "+session.ID()+" releases it") {
		w.Errorf("said %q", operator.said)
	}
}

func releaseDeadSession(w *world) {
	_, lease := w.party().session("a", 1)
	if out := w.party().take(ttl + grace); lease.Remaining() > 0 || out.Epoch <= lease.Epoch {
		w.Errorf("released %+v, while the holder has %v left", out, lease.Remaining())
	}
}

func releaseFrozen(w *world) {
	session, lease := w.party().session("a", 1)
	out := w.party().take(ttl + grace)
	if lease.Remaining() > 0 || session.Remaining() > 0 {
		w.Errorf("released %+v, while the holder has %v left", out, lease.Remaining())
	}
	if _, err := session.Heartbeat(w.Context()); !errors.Is(err, dynamolease.ErrSessionLost) {
		w.Errorf("the session wakes, and its heartbeat: %v", err)
	}
}

func releaseKept(w *world) {
	holder, operator := w.party(), w.party()
	session, lease := holder.session("a", 1)
	stop := w.until(func() {
		if _, err := session.Heartbeat(w.Context()); err != nil {
			w.Error(err)
		}
	})
	defer stop()
	out, err := operator.Release(w.Context(), operator.held(1), operator.waiting(time.Minute))
	if !errors.Is(err, operate.ErrPending) || out.Done || !strings.Contains(err.Error(), "waited for 1m0s; the order stands") {
		w.Errorf("released %+v, %v", out, err)
	}
	if again := operator.held(1); again.Epoch != lease.Epoch {
		w.Errorf("it is held by %+v", again)
	}
	if n := len(operator.said); n < 4 || n > 8 {
		w.Errorf("said %d times in a minute: %q", n, operator.said)
	}
	list, err := operator.Leases(w.Context(), group)
	if err != nil || len(list) != 1 || !list[0].Revoked {
		w.Errorf("the leases are %+v, %v", list, err)
	}
}

func releaseCoordinator(w *world) {
	w.node("a", 4, false)
	w.settle(4)
	operator, before := w.party(), w.worker(1)
	out := operator.take(2 * interval)
	if w.worker(1) == before || out.FromEpoch == 0 {
		w.Errorf("released %+v, and %s works it", out, w.worker(1))
	}
	w.settle(4) // somebody has taken it again
	if w.worker(1) == before {
		w.Errorf("it is worked under the former epoch: %s", before)
	}
}

func releaseStuck(w *world) {
	w.node("a", 4, true)
	w.settle(4)
	operator, began := w.party(), time.Now()
	operator.take(5 * time.Minute)
	if took := time.Since(began); took < time.Minute {
		w.Errorf("free after %v, while the handler runs", took)
	}
}

func releaseNothing(w *world) {
	if _, err := w.party().Lease(w.Context(), group, 1); !errors.Is(err, operate.ErrNotFound) {
		w.Error(err)
	}
	holder, operator := w.party(), w.party()
	holder.acquire(1, "A")
	held := operator.held(1)
	if _, err := holder.Store.Release(w.Context(), group, 1, "A"); err != nil {
		w.Fatal(err)
	}
	next := holder.acquire(1, "B")
	out, err := operator.Release(w.Context(), held, operator.waiting(time.Minute))
	if err != nil || !out.Done || out.Owner != "B" || out.Epoch != next.Epoch {
		w.Errorf("released %+v, %v", out, err)
	}
}

func releaseInterrupted(w *world) {
	holder, operator := w.party(), w.party()
	lease := holder.acquire(1, "A")
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
	defer cancel()
	_, err := operator.Release(ctx, operator.held(1), operator.waiting(time.Minute))
	if !errors.Is(err, operate.ErrPending) || !strings.Contains(err.Error(), "the order stands") || !strings.Contains(err.Error(), "dynamolease release orders 1") {
		w.Errorf("interrupted: %v", err)
	}
	if renewed, err := holder.Store.Renew(w.Context(), group, []int{1}, "A", ttl); err != nil || len(renewed) != 0 {
		w.Errorf("renewed %+v, %v: the order does not stand", renewed, err)
	}
	if out := operator.take(ttl + grace); out.Epoch <= lease.Epoch || lease.Remaining() > 0 {
		w.Errorf("released %+v", out)
	}
}

func releaseUnanswered(w *world) {
	holder, operator := w.party(), w.party()
	holder.acquire(1, "A")
	held := operator.held(1)
	operator.path.Every("UpdateItem", dynamotest.LoseResponse())
	operator.path.Every("UpdateItem", dynamotest.LoseRequest())
	out, err := operator.Release(w.Context(), held, operator.waiting(2*time.Second))
	if !errors.Is(err, dynamolease.ErrUnknownOutcome) || errors.Is(err, operate.ErrPending) || out.Done {
		w.Errorf("released %+v, %v", out, err)
	}
}

// An attempt that was not answered leaves its doubt, whatever comes after it.
func releaseDenied(w *world) { w.releaseInDoubt(dynamotest.AccessDenied()) }

func releaseAway(w *world) { w.releaseInDoubt(dynamotest.ServerError(500)) }

func (w *world) releaseInDoubt(then dynamotest.Fault) {
	w.party().acquire(1, "A")
	operator := w.party()
	held := operator.held(1)
	answered := operator.path.Every("UpdateItem", dynamotest.LoseRequest())
	how := operator.waiting(40 * time.Second)
	how.Tell = func(string) { // the first call has given up
		answered()
		operator.path.Every("", then)
	}
	out, err := operator.Release(w.Context(), held, how)
	if !errors.Is(err, dynamolease.ErrUnknownOutcome) || errors.Is(err, operate.ErrPending) || out.Done || !strings.Contains(err.Error(), "the order may stand; to go on: dynamolease release orders 1") ||
		out.Ordered || !strings.Contains(out.Text(), "nothing tells whether the order stands") {
		w.Errorf("released %+v, %v", out, err)
	}
}

func releaseDeniedLater(w *world) {
	w.party().acquire(1, "A")
	operator := w.party()
	held, how := operator.held(1), operator.waiting(time.Minute)
	how.Tell = func(string) { operator.path.Every("", dynamotest.AccessDenied()) } // the first message is about the order
	out, err := operator.Release(w.Context(), held, how)
	var setup *dynamolease.SetupError
	if !out.Ordered || !errors.Is(err, operate.ErrPending) || !errors.As(err, &setup) || !strings.Contains(err.Error(), "the order stands") {
		w.Error(err)
	}
}

// Where nothing was written, nothing is in doubt.
func releaseUnordered(w *world) {
	holder, operator := w.party(), w.party()
	holder.acquire(1, "A")
	held := operator.held(1)
	operator.path.Every("Query", dynamotest.Hang())
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	defer cancel()
	_, err := operator.Release(ctx, held, operator.waiting(time.Minute))
	if err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) || errors.Is(err, operate.ErrPending) || !strings.HasPrefix(err.Error(), "interrupted before anything was ordered") {
		w.Error(err)
	}
	if renewed, err := holder.Store.Renew(w.Context(), group, []int{1}, "A", ttl); err != nil || len(renewed) != 1 {
		w.Errorf("renewed %+v, %v", renewed, err)
	}
	away := w.party()
	held = away.held(1)
	away.path.Every("", dynamotest.ServerError(500))
	if _, err := away.Release(w.Context(), held, away.waiting(time.Minute)); err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) || errors.Is(err, operate.ErrPending) {
		w.Error(err)
	}
}

func releaseOutage(w *world) {
	holder, operator := w.party(), w.party()
	lease := holder.acquire(1, "A")
	held := operator.held(1)
	// After the order nothing is answered for half a minute.
	time.AfterFunc(1500*time.Millisecond, func() {
		away := operator.path.Every("", dynamotest.ServerError(500))
		time.AfterFunc(30*time.Second, away)
	})
	out, err := operator.Release(w.Context(), held, operator.waiting(time.Minute))
	if err != nil || !out.Done || out.Epoch <= lease.Epoch {
		w.Errorf("released %+v, %v; said %q", out, err, operator.said)
	}
	if !strings.Contains(strings.Join(operator.said, "\n"), "trying again: ") {
		w.Errorf("said %q", operator.said)
	}
}

func releaseOrder(w *world) {
	holder, operator := w.party(), w.party()
	holder.acquire(1, "A")
	out, err := operator.Release(w.Context(), operator.held(1), operator.waiting(0))
	if err != nil || out.Done || !strings.Contains(out.Text(), "the order stands") {
		w.Errorf("released %+v, %v", out, err)
	}
	if renewed, err := holder.Store.Renew(w.Context(), group, []int{1}, "A", ttl); err != nil || len(renewed) != 0 {
		w.Errorf("renewed %+v, %v", renewed, err)
	}
}

// Whatever happens to any one of its requests, the release ends with the lease free and its holder
// over.
func TestReleaseUnderFaults(t *testing.T) {
	faults := map[string]func() dynamotest.Fault{
		"lost request": dynamotest.LoseRequest, "lost answer": dynamotest.LoseResponse, "no answer": dynamotest.HangAfter,
		"twice": dynamotest.Twice, "throttled": dynamotest.Throttle, "failure": func() dynamotest.Fault { return dynamotest.ServerError(500) },
	}
	for holder, hold := range map[string]func(w *world) func() bool{"plain": holdPlain, "session": holdInSession, "coordinator": holdByCoordinator} {
		for name, fault := range faults {
			t.Run(holder+", "+name, func(t *testing.T) {
				for n, more := 0, true; more && n < 30; n++ {
					inVirtualTime(t, func(w *world) { more = w.releaseWithFault(n, fault(), hold(w)) })
				}
			})
		}
	}
}

// releaseWithFault injects a fault into the nth request of a release, and reports whether there
// were so many.
func (w *world) releaseWithFault(n int, fault dynamotest.Fault, over func() bool) (met bool) {
	operator := w.party()
	held := operator.held(1)
	operator.path.Reset()
	for range n {
		operator.path.Next("", dynamotest.All())
	}
	operator.path.Next("", fault)
	out, err := operator.Release(w.Context(), held, operator.waiting(3*time.Minute))
	if err != nil || !out.Done || out.Epoch < held.Epoch {
		w.Errorf("request %d: released %+v, %v; said %q", n, out, err, operator.said)
	}
	if !over() {
		w.Errorf("request %d: released %+v, while the holder believes in it", n, out)
	}
	return operator.path.Count("") > n+1 && n < 6
}

// The holders tell whether they are over.

func holdPlain(w *world) func() bool {
	lease := w.party().acquire(1, "A")
	return func() bool { return lease.Remaining() == 0 }
}

func holdInSession(w *world) func() bool {
	_, lease := w.party().session("a", 1)
	return func() bool { return lease.Remaining() == 0 }
}

func holdByCoordinator(w *world) func() bool {
	w.node("a", 2, false)
	w.settle(2)
	before := w.worker(1)
	return func() bool { return before != "" && w.worker(1) != before }
}

func TestHolderIsShownSafely(t *testing.T) {
	l := operate.Lease{Group: group, Partition: 1, Owner: "evil\x1b[2J\n", Epoch: 5, Left: &operate.Left{AtLeast: time.Second, AtMost: 2 * time.Second}}
	if text := l.Holder(); strings.Contains(text, "\x1b") || !strings.Contains(text, `"evil\x1b[2J\n" under epoch 5, with 1.0-2.0 s left`) {
		t.Error(text)
	}
	l.Checkpoint = []byte{0xff, 0}
	l.Session = "a#1"
	if text := (operate.Leases{l}).Text(); strings.Contains(text, "\x1b") || !strings.Contains(text, "base64:/wA=") {
		t.Error(text)
	}
	l.Checkpoint = []byte(strings.Repeat("x", 100))
	if text := (operate.Leases{l}).Text(); !strings.Contains(text, fmt.Sprintf("%s... (100 bytes)", strings.Repeat("x", 40))) {
		t.Error(text)
	}
}
