package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// long is a ttl that nothing in these tests outlives: what is free was given up, and did not expire.
const long = 10 * time.Minute

// givingUps are the operations that give something up. Partition 1 is a lease in the node's session, 2 a plain one.
var givingUps = []struct {
	name    string
	prepare func(n *node) // besides the session and its lease; nil for nothing
	call    func(ctx context.Context, n *node) error
	done    func(n *node) // checks that the table says so, by another node
}{
	{name: "Session.Close", call: callClose, done: func(n *node) { wantFree(n, 1); wantGone(n) }},
	{name: "Session.Close of a lost one", prepare: loseSession, call: callClose, done: func(n *node) { wantFree(n, 1); wantGone(n) }},
	{name: "Session.ReleaseAll", call: callReleaseAll, done: func(n *node) { wantFree(n, 1) }},
	{name: "Session.ReleaseAll of a lost one", prepare: loseSession, call: callReleaseAll, done: func(n *node) { wantFree(n, 1) }},
	{name: "Session.ReleaseAll after a release that failed", prepare: failToRelease, call: callReleaseAll, done: func(n *node) { wantFree(n, 1) }},
	{name: "Session.ReleaseAll after an acquisition without an answer", prepare: failToAcquire, call: callReleaseAll, done: func(n *node) {
		wantFree(n, 1)
		wantFree(n, 3)
	}},
	{name: "Session.Release", call: callGiveBack, done: func(n *node) { wantFree(n, 1) }},
	{name: "Session.Release of a lost one", prepare: loseSession, call: callGiveBack, done: func(n *node) { wantFree(n, 1) }},
	{name: "Session.Leave", call: func(ctx context.Context, n *node) error { return n.session.Leave(ctx) }, done: wantGone},
	{name: "Leave", call: callLeave, done: wantGone},
	{name: "Release", prepare: func(n *node) {
		if _, acquired, err := n.Acquire(n.w.Context(), n.w.group, 2, "a", long); err != nil || !acquired {
			n.w.Fatal(acquired, err)
		}
	}, call: func(ctx context.Context, n *node) error {
		_, err := n.Release(ctx, n.w.group, 2, "a")
		return err
	}, done: func(n *node) { wantFree(n, 2) }},
}

func callClose(ctx context.Context, n *node) error { return n.session.Close(ctx) }

// loseSession has the process lose its session, while the others still wait.
func loseSession(n *node) {
	n.Pass(2 * long)
	if n.session.Remaining() > 0 {
		n.w.Fatal("the session is not lost")
	}
	if _, err := n.Members(n.w.Context(), "nobody"); err != nil { // it knows the time again
		n.w.Fatal(err)
	}
}

func failToRelease(n *node) {
	n.Path.Next("UpdateItem", dynamotest.AccessDenied())
	if _, err := n.session.Release(n.w.Context(), n.w.group, 1); err == nil {
		n.w.Fatal("released")
	}
}

// failToAcquire has partition 3 acquired without an answer, and what would undo that in the background fail.
func failToAcquire(n *node) {
	var sent atomic.Int64
	stop := n.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if sent.Add(1) == 1 {
			return dynamotest.HangAfter()(req, send)
		}
		return dynamotest.AccessDenied()(req, send)
	})
	ctx, cancel := context.WithTimeout(n.w.Context(), time.Second)
	defer cancel()
	_, _, err := n.session.Acquire(ctx, n.w.group, 3)
	n.w.wantUnknown("acquire", err)
	time.Sleep(time.Second)
	stop()
}

func wantFree(n *node, partition int) {
	n.w.Helper()
	lease, acquired, err := n.w.node().Acquire(n.w.Context(), n.w.group, partition, "other", ttl)
	if err != nil || !acquired {
		n.w.Errorf("partition %d is not free: %+v, %v, %v", partition, lease, acquired, err)
	}
}

func wantGone(n *node) {
	n.w.Helper()
	if members := n.w.node().members(); len(members) > 0 {
		n.w.Errorf("members %+v", members)
	}
}

// LS52: what gives something up can be called until it worked, and nil says that it did: whatever failed before, in whichever
// request.
func TestGivingUpLS52(t *testing.T) {
	for _, op := range givingUps {
		for _, fault := range faults {
			if fault.kind == harmless {
				continue
			}
			for _, which := range []int{0, 1, 2} { // all requests, or the first, or the second
				name := fmt.Sprintf("LS52/B05/%s/%s/%d", op.name, fault.name, which)
				t.Run(name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n := w.givingUp(op.prepare)
						n.untilGivenUp(op.call, fault.fault, which)
						op.done(n)
					})
				})
			}
		}
	}
}

// LS52: the same where the request is never sent: without credentials, and with a context that has ended.
func TestGivingUpLS52BeforeTheRequest(t *testing.T) {
	for _, op := range givingUps {
		t.Run("LS52/B05/"+op.name+"/context ended", func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.givingUp(op.prepare)
				ended, cancel := context.WithCancel(w.Context())
				cancel()
				if err := op.call(ended, n); err == nil {
					op.done(n)
				}
				n.untilGivenUp(op.call, nil, 0)
				op.done(n)
			})
		})
		t.Run("LS52/B05/"+op.name+"/no credentials", func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				var missing atomic.Bool
				n := w.givingUpWith(op.prepare, func(o *dynamodb.Options) {
					valid := o.Credentials
					o.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
						if missing.Load() {
							return aws.Credentials{}, errors.New("the agent answers with 500")
						}
						return valid.Retrieve(ctx)
					})
				})
				missing.Store(true)
				if err := op.call(w.Context(), n); err == nil {
					w.Error("given up without a request")
				}
				missing.Store(false)
				n.untilGivenUp(op.call, nil, 0)
				op.done(n)
			})
		})
	}
}

func (w *world) givingUp(prepare func(*node)) *node { return w.givingUpWith(prepare) }

// givingUpWith is a node with a session that holds partition 1.
func (w *world) givingUpWith(prepare func(*node), optFns ...func(*dynamodb.Options)) *node {
	w.Helper()
	n := w.node()
	store, err := dynamolease.New(n.Path.Client(optFns...), w.Table, func(o *dynamolease.Options) { o.Elapsed = n.Clocks() })
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(store.Close)
	n.Store = store
	n.open("a", long)
	n.take(1)
	if prepare != nil {
		prepare(n)
	}
	return n
}

// untilGivenUp calls once with a fault in all requests, or in one of them, and then without it until that succeeds.
func (n *node) untilGivenUp(call func(context.Context, *node) error, fault dynamotest.Fault, which int) {
	n.w.Helper()
	if fault != nil {
		var sent atomic.Int64
		stop := n.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			if i := int(sent.Add(1)); which > 0 && i != which {
				return send(req)
			}
			return fault(req, send)
		})
		ctx, cancel := context.WithTimeout(n.w.Context(), 3*time.Second)
		err := call(ctx, n)
		cancel()
		stop()
		if err == nil {
			return
		}
	}
	for range 3 {
		if err := call(n.w.Context(), n); err == nil {
			return
		}
	}
	n.w.Errorf("it never succeeds: %v", call(n.w.Context(), n))
}

// A session that gave all up says so without another request.
func TestSessionCloseLS52Again(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.givingUp(nil)
		n.untilGivenUp(callClose, nil, 0)
		n.Path.Reset()
		if err := n.session.Close(w.Context()); err != nil || n.Path.Count("") > 0 {
			w.Errorf("closed again with %d requests: %v", n.Path.Count(""), err)
		}
	})
}
