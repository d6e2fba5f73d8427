package operate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestDrain(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"until its partitions are elsewhere": drainHealthy,
		"a handler is stuck":                 drainStuck,
		"interrupted":                        drainInterrupted,
		"a node that is dead":                drainDead,
		"a node that was never there":        drainUnknown,
		"a name that is mistyped":            drainMistyped,
		"nothing can be read afterwards":     drainBlind,
		"the only node":                      drainOnly,
		"no answer ever comes":               drainUnanswered,
		"the store is away for a while":      drainOutage,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func (p *party) standing(node string) operate.Standing {
	p.w.Helper()
	s, err := p.Standing(p.w.Context(), service, node)
	if err != nil {
		p.w.Fatal(err)
	}
	return s
}

func drainHealthy(w *world) {
	w.node("a", 6, false)
	w.node("b", 6, false)
	w.settle(6)
	operator := w.party()
	if text := operator.standing("a").Prospect(); !strings.Contains(text, "a of shop holds 3 partitions of orders.") {
		w.Error(text)
	}
	out, err := operator.Drain(w.Context(), service, "a", operator.waiting(time.Minute))
	if err != nil || !out.Drained || len(out.Holds) > 0 || out.Others != 1 {
		w.Fatalf("drained %+v, %v; said %q", out, err, operator.said)
	}
	if len(operator.said) == 0 || !strings.Contains(operator.said[0], "a still holds 3 partitions of orders") {
		w.Errorf("said %q", operator.said)
	}
	w.settle(6)
	if s := operator.standing("b"); len(s.Holds) != 1 || s.Holds[0].Partitions != 6 {
		w.Errorf("b stands %+v", s)
	}
	after, err := operator.Undrain(w.Context(), operator.standing("a"))
	if err != nil || after.Drained || !after.Member {
		w.Errorf("undrained %+v, %v", after, err)
	}
	w.settle(6)
	if s := operator.standing("a"); len(s.Holds) != 1 || s.Holds[0].Partitions != 3 {
		w.Errorf("a stands %+v", s)
	}
}

func drainStuck(w *world) {
	w.node("a", 4, true)
	w.settle(4)
	w.node("b", 4, false)
	operator := w.party()
	out, err := operator.Drain(w.Context(), service, "a", operator.waiting(20*time.Second))
	if !errors.Is(err, operate.ErrPending) || len(out.Holds) != 1 || !strings.Contains(err.Error(), "the node stays drained and still holds") ||
		!strings.Contains(err.Error(), "dynamolease undrain shop a") {
		w.Errorf("drained %+v, %v", out, err)
	}
	if out, err = operator.Drain(w.Context(), service, "a", operator.waiting(3*time.Minute)); err != nil || len(out.Holds) > 0 {
		w.Errorf("drained %+v, %v", out, err)
	}
}

func drainInterrupted(w *world) {
	holder, operator := w.party(), w.party()
	holder.session("a", 1)
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
	defer cancel()
	if _, err := operator.Drain(ctx, service, "a", operator.waiting(time.Minute)); !errors.Is(err, operate.ErrPending) || !strings.Contains(err.Error(), "interrupted") {
		w.Error(err)
	}
	if s := operator.standing("a"); !s.Drained {
		w.Errorf("a stands %+v", s)
	}
}

// Its partitions are free when its session has expired. The other node lists the group.
func drainDead(w *world) {
	_, lease := w.party().session("a", 1)
	other := w.party()
	session, _ := other.session("b", 2)
	stop := w.until(func() {
		if _, err := session.Heartbeat(w.Context()); err != nil {
			w.Error(err)
		}
	})
	defer stop()
	operator := w.party()
	out, err := operator.Drain(w.Context(), service, "a", operator.waiting(time.Minute))
	if err != nil || out.Member || !out.Drained || lease.Remaining() > 0 {
		w.Errorf("drained %+v, %v, with %v left", out, err, lease.Remaining())
	}
}

func drainUnknown(w *world) {
	operator := w.party()
	if text := operator.standing("z").Retrospect(); !strings.HasSuffix(text, "z of shop is not drained: there is nothing to undo.\n") {
		w.Error(text)
	}
	if text := operator.standing("z").Prospect(); !strings.Contains(text, "z is no member of shop now, and nobody else is") || !strings.Contains(text, "To undo it: dynamolease undrain shop z\n") {
		w.Error(text)
	}
	out, err := operator.Drain(w.Context(), service, "z", operator.waiting(time.Minute))
	if err != nil || !strings.HasPrefix(out.Text(), "z of shop: not a member now, drained; holds nothing\n") || !strings.Contains(out.Text(), "to undo it: dynamolease undrain shop z\n") {
		w.Errorf("drained %q, %v", out.Text(), err)
	}
	before := operator.standing("z")
	if text := before.Prospect(); !before.Drained || before.Member || text != "z of shop is drained already.\n" {
		w.Errorf("z stands %+v: %s", before, text)
	}
	if text := before.Retrospect(); text != "z of shop: not a member now, drained; holds nothing\n" {
		w.Error(text)
	}
	after, err := operator.Undrain(w.Context(), before)
	if err != nil || after.Drained || after.Text() != "z of shop: not a member now, not drained any more; holds nothing\n" {
		w.Errorf("undrained %q, %v", after.Text(), err)
	}
	if after, err = operator.Undrain(w.Context(), after); err != nil || after.Text() != "z of shop: not a member now, not drained; holds nothing\n" {
		w.Errorf("undrained again %q, %v", after.Text(), err)
	}
}

// A name that is mistyped is said to be, before anything is asked, with the names that are.
func drainMistyped(w *world) {
	for i, node := range []string{"worker-1", "worker-2", "other", "it's"} {
		w.party().session(node, i+1)
	}
	stranger := w.party().standing("wroker-2")
	const want = "wroker-2 is no member of shop now: is the name right? Members are worker-2, worker-1, other, it's.\n"
	if text := stranger.Prospect(); !strings.HasPrefix(text, want) {
		w.Error(text)
	}
	if text := stranger.Retrospect(); !strings.HasPrefix(text, want) {
		w.Error(text)
	}
	if text := w.party().standing("worker-2").Prospect(); strings.Contains(text, "is the name right") {
		w.Error(text)
	}
	if text := w.party().standing("its").Prospect(); !strings.Contains(text, "Members are it's, ") {
		w.Error(text)
	}
	if text := w.party().standing("it`s").Prospect(); !strings.Contains(text, "dynamolease undrain shop 'it`s'\n") {
		w.Error(text)
	}
}

// A failure after the order does not hide that the order stands.
func drainBlind(w *world) {
	w.party().session("a", 1)
	operator := w.party()
	operator.path.Next("UpdateItem", dynamotest.Around(nil, func() { operator.path.Every("Query", dynamotest.ServerError(500)) }))
	out, err := operator.Drain(w.Context(), service, "a", operator.waiting(0))
	if !errors.Is(err, operate.ErrPending) || !out.Drained || !strings.Contains(err.Error(), "did not wait; the node is drained, and what it still holds is not known") ||
		!strings.Contains(err.Error(), "StatusCode: 500") {
		w.Errorf("drained %+v, %v", out, err)
	}
	operator = w.party()
	before := operator.standing("a")
	operator.path.Next("UpdateItem", dynamotest.Around(nil, func() { operator.path.Every("Query", dynamotest.AccessDenied()) }))
	if _, err := operator.Undrain(w.Context(), before); err == nil || !strings.HasPrefix(err.Error(), "the node is undrained, but: ") {
		w.Errorf("undrained: %v", err)
	}
}

func drainOnly(w *world) {
	w.party().session("a", 1)
	if text := w.party().standing("a").Prospect(); !strings.Contains(text, "No other node could take over") {
		w.Error(text)
	}
}

func drainUnanswered(w *world) {
	operator := w.party()
	operator.path.Every("UpdateItem", dynamotest.LoseRequest())
	if _, err := operator.Drain(w.Context(), service, "b", operator.waiting(time.Minute)); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Errorf("drained: %v", err)
	}
}

func drainOutage(w *world) {
	w.node("a", 4, false)
	w.node("b", 4, false)
	w.settle(4)
	operator := w.party()
	operator.path.Next("Query", dynamotest.Around(nil, func() {
		away := operator.path.Every("", dynamotest.ServerError(500))
		time.AfterFunc(30*time.Second, away)
	}))
	out, err := operator.Drain(w.Context(), service, "a", operator.waiting(2*time.Minute))
	if err != nil || len(out.Holds) > 0 {
		w.Errorf("drained %+v, %v; said %q", out, err, operator.said)
	}
	if !strings.Contains(strings.Join(operator.said, "\n"), "looking again: ") {
		w.Errorf("said %q", operator.said)
	}
}

// Whatever happens to any one of its requests, the node is drained, and no partition is worked
// twice: the world sees to that.
func TestDrainUnderFaults(t *testing.T) {
	for name, fault := range map[string]func() dynamotest.Fault{
		"lost request": dynamotest.LoseRequest, "lost answer": dynamotest.LoseResponse, "no answer": dynamotest.HangAfter, "twice": dynamotest.Twice,
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 5 {
				inVirtualTime(t, func(w *world) {
					w.node("a", 2, false)
					w.node("b", 2, false)
					w.settle(2)
					operator := w.party()
					for range n {
						operator.path.Next("", dynamotest.All())
					}
					operator.path.Next("", fault())
					out, err := operator.Drain(w.Context(), service, "a", operator.waiting(time.Minute))
					if err != nil || !out.Drained || len(out.Holds) > 0 {
						w.Errorf("request %d: drained %+v, %v; said %q", n, out, err, operator.said)
					}
				})
			}
		})
	}
}
