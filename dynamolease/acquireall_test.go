package dynamolease_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// acquireAll acquires partitions for owner, and fails the test if it cannot.
func (n *node) acquireAll(owner string, partitions []int) []dynamolease.Lease {
	n.w.Helper()
	leases, acquired, err := n.AcquireAll(n.w.Context(), n.w.group, partitions, owner, ttl)
	if err != nil || !acquired || len(leases) != len(partitions) {
		n.w.Fatalf("acquire %d for %s: %d leases, %v, %.300v", len(partitions), owner, len(leases), acquired, err)
	}
	return leases
}

// All or none, whoever holds some of them and however.
func TestAcquireAllOrNone(t *testing.T) {
	t.Run("C63/all or none", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b, c := w.node(), w.node(), w.node()
			c.open("c", ttl)
			in, plain := c.take(7), b.acquire(33, "b")
			for range 2 {
				others, acquired, err := a.AcquireAll(w.Context(), w.group, upTo(50), "a", ttl)
				if err != nil || acquired || partitionsOf(others) != "7 33" || others[0].Session != in.Session || others[1].Epoch != plain.Epoch {
					w.Errorf("%+v, %v, %v", others, acquired, err)
				}
			}
			if got := partitionsOf(a.owners()); got != "7 33" {
				w.Errorf("owners %s", got)
			}
			b.release(33, "b")
			w.expire() // c's session died
			mine := a.acquire(4, "a")
			leases := a.acquireAll("a", upTo(50))
			for i, lease := range leases {
				if lease.Partition != i || lease.Owner != "a" || lease.Remaining() != ttl {
					w.Errorf("lease %d is %+v with %v left", i, lease, lease.Remaining())
				}
			}
			if leases[4].Epoch != mine.Epoch || leases[7].Epoch != in.Epoch+1 || leases[33].Epoch != plain.Epoch+1 {
				w.Errorf("epochs %d, %d, %d", leases[4].Epoch, leases[7].Epoch, leases[33].Epoch)
			}
			a.Path.Reset()
			if got := a.renew("a", upTo(50)...); len(got) != 50 || a.Path.Count("") != 1 {
				w.Errorf("renewed %d with %d requests", len(got), a.Path.Count(""))
			}
			b.refused(49, "b")
		})
	})
	t.Run("C63/overlap", func(t *testing.T) {
		w := newWorld(t)
		nodes := []*node{w.node(), w.node(), w.node()}
		for range 10 {
			won := make([]bool, len(nodes))
			var running sync.WaitGroup
			for i, n := range nodes {
				running.Go(func() {
					_, acquired, err := n.AcquireAll(w.Context(), w.group, upTo(30)[i*5:i*5+20], fmt.Sprint("n", i), time.Minute)
					if err != nil {
						w.Error(err)
					}
					won[i] = acquired
				})
			}
			running.Wait()
			winner := ""
			for i, won := range won {
				if won {
					winner += fmt.Sprint("n", i)
				}
			}
			owners := nodes[0].owners()
			if len(owners) != 20 || owners[0].Owner != winner || owners[19].Owner != winner {
				t.Fatalf("winners %q, owners %+v", winner, owners)
			}
			for _, lease := range owners {
				nodes[0].release(lease.Partition, winner)
			}
		}
	})
}

// The session that holds several of the leases, and died, is looked at once.
func TestAcquireAllOfDeadSessions(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, dead := w.node(), w.node()
		dead.open("z", ttl)
		for i := range 20 {
			dead.take(i)
		}
		w.expire()
		a.Path.Reset()
		a.acquireAll("a", upTo(20))
		if n := a.Path.Count("GetItem"); n > 1 {
			w.Errorf("the one session was read %d times", n)
		}
	})
}

// As many partitions as are allowed can be acquired at once, also where each is of another session that died.
func TestAcquireAllOfManyDeadSessions(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		for i := range 50 {
			dead := w.coldNode()
			dead.open(fmt.Sprint("z", i), ttl)
			dead.take(i)
		}
		w.expire()
		a.acquireAll("a", upTo(50))
	})
}

// What was acquired without being known is given up for each partition; what was extended stays.
func TestAcquireAllAbandoned(t *testing.T) {
	for name, fault := range map[string]func(late *mailbox) dynamotest.Fault{
		"applied":        func(*mailbox) dynamotest.Fault { return dynamotest.HangAfter() },
		"never sent":     func(*mailbox) dynamotest.Fault { return dynamotest.Hang() },
		"delivered late": (*mailbox).post,
	} {
		t.Run("LS35/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b, late := w.node(), w.node(), newMailbox()
				kept := a.acquire(2, "a")
				a.Path.Next("TransactWriteItems", fault(late))
				_, _, err := a.AcquireAll(w.giveUp(), w.group, upTo(4), "a", ttl)
				w.wantUnknown("acquire all", err)
				a.Close()
				late.deliver()
				if owners := b.owners(); partitionsOf(owners) != "2" || owners[0].Epoch != kept.Epoch {
					w.Errorf("owners %+v", owners)
				}
				b.acquire(3, "b")
			})
		})
	}
}

// What was acquired without an answer is known by any of its rows: others may have been revoked or renewed since.
func TestAcquireAllChangedSince(t *testing.T) {
	for partition := range 3 {
		for name, change := range map[string]func(other *node){
			"revoked": func(other *node) { other.revoke(partition, other.epochOf(partition)) },
			"renewed": func(other *node) { other.renew("a", partition) },
		} {
			t.Run(fmt.Sprint(name, " ", partition), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, other := w.node(), w.node()
					a.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.LoseResponse(), dynamotest.Around(nil, func() { change(other) })))
					leases, acquired, err := a.AcquireAll(w.Context(), w.group, upTo(3), "a", ttl)
					if err != nil || !acquired || len(leases) != 3 {
						w.Fatalf("acquired %+v, %v, %v", leases, acquired, err)
					}
					for i, lease := range leases {
						if lease.Remaining() == 0 || lease.Revoked() != (name == "revoked" && i == partition) {
							w.Errorf("%+v has %v left, revoked: %v", lease, lease.Remaining(), lease.Revoked())
						}
					}
					time.Sleep(ttl / 4)
					want := map[string]int{"revoked": 2, "renewed": 3}[name]
					if renewed := a.renew("a", 0, 1, 2); len(renewed) != want {
						w.Errorf("renewed %+v, want %d", renewed, want)
					}
				})
			})
		}
	}
}

// The first transaction may arrive yet when the call gives up for another reason: its outcome is unknown, and it is not
// left to come back.
func TestAcquireAllLateThenRefused(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"throttled": dynamotest.Throttle(), "access denied": dynamotest.AccessDenied(), "conflict": dynamotest.Cancelled("TransactionConflict", "None"),
	} {
		t.Run("LS35/LS41/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				first := true
				a.Path.Every("TransactWriteItems", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					if first {
						first = false
						return late.post()(req, send)
					}
					return fault(req, send)
				})
				_, _, err := a.AcquireAll(w.Context(), w.group, []int{1, 2}, "a", ttl)
				a.Close()
				late.deliver()
				if owners := a.owners(); len(owners) != 0 {
					w.Errorf("after %v, the late acquisition of %s came back", err, partitionsOf(owners))
				}
			})
		})
	}
}

func TestAcquireAllArguments(t *testing.T) {
	t.Run("LS29", func(t *testing.T) {
		w := newWorld(t)
		n := w.node()
		for want, partitions := range map[string][]int{"partitions": {}, "partitions has 101 entries": upTo(101), "partitions -1": {-1}} {
			_, _, err := n.AcquireAll(w.Context(), w.group, partitions, "a", ttl)
			if err == nil || !strings.Contains(err.Error(), want) || n.Path.Count("") != 0 {
				t.Errorf("%v for %d partitions, %d requests", err, len(partitions), n.Path.Count(""))
			}
		}
	})
}
