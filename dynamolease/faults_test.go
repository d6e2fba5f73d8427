package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A faultKind is what the store can know after a fault.
type faultKind int

const (
	harmless faultKind = iota // the answer came
	notDone                   // surely not applied, worth another try
	unknown                   // may have been applied
	hopeless                  // surely not applied, and never will be
)

// faults are the things that can happen to one request.
var faults = []struct {
	name    string
	fault   dynamotest.Fault
	kind    faultKind
	applied bool // nevertheless
	waits   bool // the request is only given up at its own deadline
	setup   bool // the error says what to mend

	conflict, throttles bool
}{
	{name: "short delay", fault: dynamotest.Delay(ttl / 20), kind: harmless},
	{name: "short delay of the response", fault: dynamotest.DelayResponse(ttl / 20), kind: harmless},
	{name: "twice", fault: dynamotest.Twice(), kind: harmless},
	{name: "lost request", fault: dynamotest.LoseRequest(), kind: unknown},
	{name: "lost response", fault: dynamotest.LoseResponse(), kind: unknown, applied: true},
	{name: "long delay", fault: dynamotest.Delay(ttl), kind: unknown, waits: true},
	{name: "long delay of the response", fault: dynamotest.DelayResponse(ttl), kind: unknown, applied: true, waits: true},
	{name: "hang", fault: dynamotest.Hang(), kind: unknown, waits: true},
	{name: "hang after", fault: dynamotest.HangAfter(), kind: unknown, applied: true, waits: true},
	{name: "500", fault: dynamotest.ServerError(500), kind: unknown},
	{name: "503", fault: dynamotest.ServerError(503), kind: unknown},
	{name: "500 after", fault: after(dynamotest.ServerError(500)), kind: unknown, applied: true},
	{name: "LS47/a proxy's page", fault: dynamotest.Proxy(200), kind: unknown},
	{name: "LS47/a proxy's page after", fault: after(dynamotest.Proxy(503)), kind: unknown, applied: true},
	{name: "LS47/a refusal without an id", fault: nameless(dynamotest.Reply(400, "ConditionalCheckFailedException", "Injected")), kind: unknown},
	{name: "B15/broken off", fault: broken(brokenBodies["broken off"]), kind: unknown, applied: true},
	{name: "B03/signature expired", fault: signatureExpired, kind: notDone},
	{name: "throttled", fault: dynamotest.Throttle(), kind: notDone, throttles: true},
	{name: "throttling", fault: dynamotest.Reply(400, "ThrottlingException", "Rate exceeded"), kind: notDone, throttles: true},
	{name: "conflict", fault: dynamotest.Conflict(), kind: notDone, conflict: true},
	{name: "access denied", fault: dynamotest.AccessDenied(), kind: hopeless, setup: true},
	{name: "missing table", fault: dynamotest.Reply(400, "ResourceNotFoundException", "Requested resource not found"), kind: hopeless, setup: true},
	{name: "validation", fault: dynamotest.Reply(400, "ValidationException", "Injected"), kind: hopeless},
}

// after has the request applied, and the client told something else.
func after(answer dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if _, err := send(req); err != nil {
			return nil, err
		}
		return answer(req, send)
	}
}

// eachFault runs a test in virtual time for every operation and every fault of it.
func eachFault(t *testing.T, test func(w *world, op, fault int)) {
	for i, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			for j, fault := range faults {
				t.Run(fault.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) { test(w, i, j) })
				})
			}
		})
	}
}

// After one fault, every operation succeeds, with its effect once, unless trying again is hopeless.
func TestOneFault(t *testing.T) {
	eachFault(t, func(w *world, o, f int) {
		op, fault := operations[o], faults[f]
		n := w.faultyNode(op.each)
		op.prepare(n)
		n.Path.Reset()
		n.Path.Next(op.request, fault.fault)
		start := time.Now()
		err := op.call(w.Context(), n)
		took := time.Since(start)

		wantRequests, longest := 2, 100*time.Millisecond
		if fault.kind == harmless || fault.kind == hopeless || op.looks && fault.applied || op.splits && fault.conflict {
			wantRequests = 1
		}
		if fault.kind != hopeless {
			wantRequests += op.then
		}
		if fault.kind == harmless {
			longest = ttl / 20
		}
		if fault.throttles {
			longest = ttl / 2
		}
		if fault.waits {
			longest += requestTimeout(op.untimed)
		}
		if got := n.Path.Count(op.request); got != wantRequests {
			w.Errorf("%d requests %s, want %d", got, op.request, wantRequests)
		}
		if took > longest {
			w.Errorf("it took %v, want %v at most", took, longest)
		}
		if fault.kind != hopeless {
			if err != nil {
				w.Fatal(err)
			}
			op.check(n)
			return
		}
		wantHopeless(w, err, fault.setup)
		if err := op.call(w.Context(), n); err != nil {
			w.Errorf("again, with nothing wrong any more: %v", err)
		}
		op.check(n)
	})
}

func wantHopeless(w *world, err error, setup bool) {
	w.Helper()
	if err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Errorf("error %v, want one that says that nothing was written", err)
	}
	if as := new(dynamolease.SetupError); setup && !errors.As(err, &as) {
		w.Errorf("error %v, want a SetupError", err)
	}
}

func (w *world) faultyNode(each bool) *node {
	return w.node(func(o *dynamolease.Options) {
		if each {
			o.Renewal = dynamolease.EachItem
		}
	})
}

// requestTimeout is after what time a request is given up.
func requestTimeout(untimed bool) time.Duration {
	if untimed {
		return 2 * time.Second
	}
	return ttl / 6
}

// With a fault on every request, an operation ends in time with an error that says no more than is known, and a
// repeated call tells the truth.
func TestEveryFault(t *testing.T) {
	eachFault(t, func(w *world, o, f int) {
		op, fault := operations[o], faults[f]
		if fault.kind == harmless {
			w.everyFault(o, f, 0, ttl)
			return
		}
		longest := ttl/2 + requestTimeout(op.untimed)
		if op.untimed {
			longest = 10*time.Second + requestTimeout(op.untimed)
		}
		w.everyFault(o, f, 0, longest)
	})
}

// LS34: a call ends when its context does.
func TestEveryFaultLS34(t *testing.T) {
	eachFault(t, func(w *world, o, f int) {
		limit := time.Duration(1+operations[o].then) * time.Second
		w.everyFault(o, f, limit, limit+time.Millisecond)
	})
}

// everyFault makes a call whose context ends after limit, if that is not zero.
func (w *world) everyFault(o, f int, limit, longest time.Duration) {
	w.Helper()
	op, fault := operations[o], faults[f]
	n := w.faultyNode(op.each)
	op.prepare(n)
	stop := n.Path.Every(op.request, fault.fault)
	defer stop()
	n.Path.Reset()
	ctx := w.Context()
	if limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	start := time.Now()
	err := op.call(ctx, n)
	if took := time.Since(start); took > longest {
		w.Errorf("it took %v, want %v at most", took, longest)
	}
	if err == nil && (op.looks && fault.applied || op.splits && fault.conflict) {
		op.check(n)
		return
	}
	if fault.kind == hopeless {
		wantHopeless(w, err, fault.setup)
		if n.Path.Count(op.request) != 1 {
			w.Errorf("%d requests, want 1", n.Path.Count(op.request))
		}
	} else if fault.kind == harmless {
		if err != nil {
			w.Fatal(err)
		}
		op.check(n)
		return
	} else if want := op.write && fault.kind == unknown; err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) != want {
		w.Errorf("error %v, outcome unknown: want %v", err, want)
	}
	if limit > 0 && fault.kind != hopeless && !errors.Is(err, context.DeadlineExceeded) {
		w.Errorf("error %v does not say that the context has ended", err)
	}
	stop()
	n.Close()
	if fault.throttles {
		n.recover()
	}
	if err := op.call(w.Context(), n); err != nil {
		w.Errorf("again, with nothing wrong any more: %v", err)
	}
	w.checkAgain(o, f, n)
}

// recover has a node learn from its heartbeats that the store does not throttle it any more.
func (n *node) recover() {
	n.w.Helper()
	for range 20 {
		if _, err := n.Heartbeat(n.w.Context(), dynamolease.Node{Service: n.w.service + "-other", Name: "r", Address: "r:1"}, ttl); err != nil {
			n.w.Fatal(err)
		}
	}
}

// checkAgain is check, where an acquisition may have been undone meanwhile and made again.
func (w *world) checkAgain(o, f int, n *node) {
	w.Helper()
	op, fault := operations[o], faults[f]
	if !op.undone || fault.kind != unknown {
		op.check(n)
		return
	}
	checkHeld(n)
	if epoch := numberOf(n.row(1)["epoch"]); epoch != "8" && epoch != "9" {
		w.Errorf("epoch %s, want 8, or 9 after the first was undone", epoch)
	}
}
