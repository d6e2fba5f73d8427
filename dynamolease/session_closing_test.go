package dynamolease_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// writes counts the writes that a node has made, by the row that they are about.
func (n *node) writes() (sessions, leases int) {
	for _, request := range n.Path.Requests() {
		body := string(request.Body)
		switch {
		case request.Op == "GetItem" || request.Op == "Query":
		case strings.Contains(body, `"M#`):
			sessions++
		default:
			leases++
		}
	}
	return sessions, leases
}

// withoutTransactions has a table refuse every transaction, as a multi-Region strongly consistent
// one does.
func withoutTransactions(n *node) {
	n.Path.Every("TransactWriteItems", dynamotest.Reply(400, "ValidationException", "Transactions are not supported"))
}

// A dead session is closed with one write, and each of its leases is taken with one, without any
// transaction.
func TestDeadSessionIsClosedOnceLS45(t *testing.T) {
	const held = 40
	for name, acquire := range map[string]func(n *node, partition int) error{
		"by a session": func(n *node, partition int) error {
			_, acquired, err := n.session.Acquire(n.w.Context(), n.w.group, partition)
			return refusedToo(acquired, err)
		},
		"by plain owners": func(n *node, partition int) error {
			_, acquired, err := n.Acquire(n.w.Context(), n.w.group, partition, "b", ttl)
			return refusedToo(acquired, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				for partition := range held {
					a.take(partition)
				}
				w.expire()
				withoutTransactions(b)
				b.open("b", ttl)
				b.Path.Reset()
				var running sync.WaitGroup
				for partition := range held {
					running.Go(func() {
						if err := acquire(b, partition); err != nil {
							w.Error(err)
						}
					})
				}
				running.Wait()
				if sessions, leases := b.writes(); sessions != 1 || leases != held {
					w.Errorf("%d writes of sessions, %d of leases", sessions, leases)
				}
				row := rowAt(b, a.session)
				if numberOf(row["exp"]) != "1" || row["left"] == nil || row["ttl"] == nil {
					w.Errorf("the session's row is %v", row)
				}
			})
		})
	}
}

func refusedToo(acquired bool, err error) error {
	if err == nil && !acquired {
		return errors.New("not acquired")
	}
	return err
}

func rowAt(n *node, s *dynamolease.Session) map[string]attributeValue {
	return n.w.Get(key("M#"+n.w.service, "N#"+s.ID()))
}

// Everything that sessions and plain leases by themselves need runs on a table without transactions.
func TestNoTransactionsLS45(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node(modes["each item"])
		withoutTransactions(n)
		n.open("a", 6*ttl)
		for partition := range 3 {
			n.take(partition)
		}
		n.beat()
		if _, err := n.session.Release(w.Context(), w.group, 0); err != nil {
			w.Error(err)
		}
		n.acquire(7, "p")
		n.renew("p", 7)
		n.release(7, "p")
		if err := n.session.ReleaseAll(w.Context()); err != nil {
			w.Error(err)
		}
		if err := n.session.Close(w.Context()); err != nil {
			w.Error(err)
		}
		if count := n.Path.Count("TransactWriteItems"); count != 0 {
			w.Errorf("%d transactions", count)
		}
	})
}

// A heartbeat that lands before the mark keeps the session and all its leases; one that lands after
// it is refused, and revives nothing.
func TestMarkAndHeartbeatLS45(t *testing.T) {
	for name, first := range map[string]bool{"before the mark": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				a.take(1)
				a.take(2)
				late := a.lateBeat()
				if first {
					b.Path.Next("UpdateItem", dynamotest.Around(late.deliver, nil))
					b.refused(1, "b")
					b.refused(2, "b")
					if len(b.owners()) != 2 {
						w.Errorf("owners %+v", b.owners())
					}
					return
				}
				b.acquire(1, "b")
				before := rowAt(b, a.session)
				late.deliver()
				w.wantRow("the late heartbeat", before, rowAt(b, a.session))
				b.acquire(2, "b")
			})
		})
	}
}

// A session that opened after somebody had read the members is alive, though that list lacks it.
func TestAbsentFromOldMembersLS45(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		if members, err := b.Members(w.Context(), w.service); err != nil || len(members) != 0 {
			w.Fatalf("members %v, %v", members, err)
		}
		a.open("a", ttl)
		a.take(1)
		b.refused(1, "b")
		if sessions, leases := b.writes(); sessions+leases != 0 {
			w.Errorf("%d and %d writes", sessions, leases)
		}
	})
}

// A session whose row is gone has nothing left: its leases are taken, and nothing is made in its place.
func TestAbsentSessionLS45(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		a.take(1)
		w.Delete(key("M#"+w.service, "N#"+a.session.ID()))
		b.acquire(1, "b")
		if row := rowAt(b, a.session); len(row) != 0 {
			w.Errorf("the row is %v", row)
		}
	})
}

// Nodes that find a session dead at the same time all go on, whatever becomes of their marks.
func TestManyCloseOneSessionLS45(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"answered": nil, "answers lost": dynamotest.LoseResponse(), "requests lost": dynamotest.LoseRequest(), "throttled": dynamotest.Throttle(),
		"doubled": dynamotest.Twice(),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.open("a", ttl)
				for partition := range 4 {
					a.take(partition)
				}
				w.expire()
				var running sync.WaitGroup
				for partition := range 4 {
					n := w.node()
					if fault != nil {
						n.Path.Next("UpdateItem", fault)
					}
					running.Go(func() {
						lease, acquired, err := n.Acquire(w.Context(), w.group, partition, "b", ttl)
						if !acquired || err != nil || lease.Remaining() == 0 {
							w.Errorf("%d: %v, %v", partition, acquired, err)
						}
					})
				}
				running.Wait()
			})
		})
	}
}

// A node that may take leases, and not look at the sessions that hold them or close those that are
// dead, says what it lacks, and which session it is about.
func TestClosingDeniedLS45(t *testing.T) {
	for request, problem := range map[string]string{"GetItem": "may not look at", "UpdateItem": "may not close"} {
		t.Run(request, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				b := w.node()
				prepareDead(b)
				b.Path.Every(request, deniedAt("M#"+w.service))
				_, _, err := b.Acquire(context.Background(), w.group, 1, "b", ttl)
				var setup *dynamolease.SetupError
				if !errors.As(err, &setup) || !strings.Contains(setup.Problem, problem+" the session z#") ||
					!strings.Contains(setup.Remedy, "UpdateItem on the partition key M#"+w.service) {
					w.Errorf("got %v", err)
				}
				if errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("nothing was written: %v", err)
				}
			})
		})
	}
}

// deniedAt refuses requests about one partition key, as a policy with leading keys does.
func deniedAt(pk string) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), strconv.Quote(pk)) {
			return dynamotest.AccessDenied()(req, send)
		}
		return send(req)
	}
}
