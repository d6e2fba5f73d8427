package dynamolease_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func (n *node) look(c dynamolease.Consistency) *dynamolease.Look {
	n.w.Helper()
	look, err := n.Look(n.w.Context(), n.w.service, c)
	if err != nil {
		n.w.Fatalf("look: %v", err)
	}
	return look
}

func (n *node) leasesOf(look *dynamolease.Look, c dynamolease.Consistency) []dynamolease.Lease {
	n.w.Helper()
	leases, err := look.Leases(n.w.Context(), n.w.group, c)
	if err != nil {
		n.w.Fatalf("leases: %v", err)
	}
	return leases
}

// A look shows what Members and Leases show, by one reading of the members.
func TestLookShowsWhatIsThere(t *testing.T) {
	for name, c := range map[string]dynamolease.Consistency{"consistent": dynamolease.Consistent, "eventual": dynamolease.Eventual} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b, former, left, n := w.node(), w.node(), w.node(), w.node(), w.node()
				former.open("a", ttl)
				time.Sleep(time.Second)
				for node, name := range map[*node]string{a: "a", b: "b", left: "c"} {
					node.open(name, ttl)
				}
				if err := left.session.Leave(w.Context()); err != nil {
					w.Fatal(err)
				}
				a.take(1)
				former.take(2)
				left.take(3)
				b.take(4)
				if _, err := b.session.Release(w.Context(), w.group, 4); err != nil {
					w.Fatal(err)
				}
				members, leases := n.members(), []dynamolease.Lease(nil)
				if all, err := n.Leases(w.Context(), w.group); err != nil {
					w.Fatal(err)
				} else {
					leases = all
				}
				n.Path.Reset()
				look := n.look(c)
				got := n.leasesOf(look, c)
				if n.Path.Count("Query") != 2 {
					w.Errorf("%d queries", n.Path.Count("Query"))
				}
				if !slices.EqualFunc(look.Members(), members, func(a, b dynamolease.Member) bool { return a.Session == b.Session }) {
					w.Errorf("members %v, want %v", look.Members(), members)
				}
				var leaving []string
				for _, m := range look.Leaving() {
					leaving = append(leaving, m.Session)
				}
				slices.Sort(leaving)
				if !slices.Equal(leaving, []string{former.session.ID(), left.session.ID()}) {
					w.Errorf("leaving %v", leaving)
				}
				if !slices.EqualFunc(got, leases, func(a, b dynamolease.Lease) bool {
					return a.Partition == b.Partition && a.Owner == b.Owner && a.Epoch == b.Epoch && a.ExpiresAt.Equal(b.ExpiresAt)
				}) {
					w.Errorf("leases %v, want %v", got, leases)
				}
			})
		})
	}
}

// LS45: a session that opened after the look is alive, whatever the look knows of it.
func TestLookProvesNothingByAbsenceLS45(t *testing.T) {
	for name, c := range map[string]dynamolease.Consistency{"consistent": dynamolease.Consistent, "eventual": dynamolease.Eventual} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, n := w.node(), w.node()
				n.open("n", ttl)
				look := n.look(c)
				a.open("a", ttl)
				held := a.take(1)
				if got := n.leasesOf(look, c); len(got) != 1 || got[0].Owner != "a" {
					w.Errorf("leases %v", got)
				}
				if _, acquired, err := look.AcquireIn(w.Context(), n.session, w.group, 1); acquired || err != nil {
					w.Errorf("acquired %v, %v", acquired, err)
				}
				if held.Remaining() == 0 {
					w.Error("the holder has lost it")
				}
			})
		})
	}
}

// What a look has seen may be old: another node has acquired, and given up, in between.
func TestAcquisitionOnTopOfAnOldLook(t *testing.T) {
	for name, between := range map[string]struct {
		do       func(other *node)
		acquired bool
	}{
		"nothing":               {func(*node) {}, true},
		"acquired by another":   {func(other *node) { other.take(1) }, false},
		"acquired and given up": {func(other *node) { other.take(1); _ = other.session.ReleaseAll(other.w.Context()) }, true},
		"the row is deleted":    {func(other *node) { other.w.Delete(other.w.leaseKey(1)) }, true},
	} {
		for state, prepare := range map[string]func(n *node){
			"never used": func(*node) {},
			"released":   func(n *node) { n.acquire(1, "z"); n.release(1, "z") },
			"of a closed session": func(n *node) {
				n.open("z", ttl)
				n.take(1)
				n.Path.Every("", dynamotest.LoseRequest())
				_ = n.session.Close(n.w.Context())
				n.w.expire()
			},
		} {
			t.Run(state+"/"+name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					prepare(w.node())
					n, other := w.node(), w.node()
					n.open("n", ttl)
					other.open("o", ttl)
					look := n.look(dynamolease.Eventual)
					n.leasesOf(look, dynamolease.Eventual)
					between.do(other)
					n.Path.Reset()
					lease, acquired, err := look.AcquireIn(w.Context(), n.session, w.group, 1)
					if err != nil || acquired != between.acquired {
						w.Fatalf("acquired %v, %v", acquired, err)
					}
					if acquired && (lease.Session != n.session.ID() || lease.Epoch != n.epochOf(1) || lease.Remaining() == 0) {
						w.Errorf("%+v, under epoch %d", lease, n.epochOf(1))
					}
					if reads := n.Path.Count("GetItem"); name == "nothing" && state != "of a closed session" && reads != 0 {
						w.Errorf("%d reads", reads)
					}
				})
			})
		}
	}
}

// A plain lease is judged by an answer that has just come, and not by a look.
func TestLookJudgesNoExpiryLS50(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, n := w.node(), w.node()
		a.acquire(1, "a")
		n.open("n", time.Minute)
		look := n.look(dynamolease.Consistent)
		n.leasesOf(look, dynamolease.Consistent)
		for range 3 {
			time.Sleep(ttl / 2)
			a.renew("a", 1)
		}
		if _, acquired, err := look.AcquireIn(w.Context(), n.session, w.group, 1); acquired || err != nil {
			w.Errorf("acquired %v, %v", acquired, err)
		}
	})
}

// A plain lease that a look has found expired is read again before it is taken; one that was given up is
// not.
func TestLookReadsExpiredLeasesAgainLS50(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(n *node)
		reads int
	}{
		"expired":  {func(n *node) { n.w.expire() }, 1},
		"given up": {func(n *node) { n.release(1, "a") }, 0},
	} {
		for taker, acquire := range map[string]func(n *node, look *dynamolease.Look) (dynamolease.Lease, bool, error){
			"a session": func(n *node, look *dynamolease.Look) (dynamolease.Lease, bool, error) {
				return look.AcquireIn(n.w.Context(), n.session, n.w.group, 1)
			},
			"an owner": func(n *node, look *dynamolease.Look) (dynamolease.Lease, bool, error) {
				return look.Acquire(n.w.Context(), n.w.group, 1, "n", ttl)
			},
		} {
			t.Run(name+"/"+taker, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, n := w.node(), w.node()
					a.acquire(1, "a")
					n.open("n", time.Minute)
					test.end(a)
					look := n.look(dynamolease.Eventual)
					if leases := n.leasesOf(look, dynamolease.Eventual); len(leases) != 1 || leases[0].Owner != "" {
						w.Fatalf("leases %v", leases)
					}
					n.Path.Reset()
					if lease, acquired, err := acquire(n, look); !acquired || err != nil {
						w.Fatalf("acquired %v, %v, %v", lease, acquired, err)
					}
					if reads := n.Path.Count("GetItem"); reads != test.reads {
						w.Errorf("%d reads, want %d", reads, test.reads)
					}
				})
			})
		}
	}
}

// Next is when a session that sends no heartbeat any more is found to be over, and not before.
func TestLookKnowsWhenASessionEnds(t *testing.T) {
	for name, c := range map[string]dynamolease.Consistency{"consistent": dynamolease.Consistent, "eventual": dynamolease.Eventual} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, n := w.node(), w.node()
				a.open("a", ttl)
				opened := time.Now()
				look := n.look(c)
				if next := look.Next(); next < ttl || next > ttl+5*time.Second {
					w.Fatalf("after %v", next)
				}
				for len(look.Members()) > 0 {
					if look.Next() == 0 {
						w.Fatal("it should be over")
					}
					time.Sleep(look.Next())
					look = n.look(c)
				}
				if took := time.Since(opened); took < ttl || took > ttl+time.Second {
					w.Errorf("over after %v", took)
				}
				if look.Next() < time.Hour {
					w.Errorf("nobody is left, and the next is after %v", look.Next())
				}
			})
		})
	}
}

// Next is not before a member can be found to be over: not for one whose clock is wrong, and which is seen to
// live all the same, nor for one whose row says an expiry that nobody can reach.
func TestLookKnowsWhenASessionEndsCO15(t *testing.T) {
	for name, exp := range map[string]func(now time.Time) int64{
		"a clock that is slow":  func(now time.Time) int64 { return now.Add(-time.Hour).UnixMilli() },
		"microseconds":          func(now time.Time) int64 { return now.UnixMicro() },
		"nanoseconds":           func(now time.Time) int64 { return now.UnixNano() },
		"the last number":       func(now time.Time) int64 { return math.MaxInt64 - 1_000_000 + now.UnixMilli()%1_000_000 },
		"a clock that is right": func(now time.Time) int64 { return now.Add(ttl).UnixMilli() },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, n := w.node(), w.node()
				a.open("a", ttl)
				for range 4 {
					row := a.sessionRow()
					row["exp"], row["rev"] = number(fmt.Sprint(exp(time.Now()))), text(fmt.Sprint(time.Now().UnixNano()))
					w.Put(row)
					look := n.look(dynamolease.Consistent)
					if members := look.Members(); len(members) > 0 && look.Next() < ttl/2 {
						w.Errorf("after %v", look.Next())
					}
					time.Sleep(ttl / 3)
				}
			})
		})
	}
}

// What is asked of DynamoDB: an eventual look is for half the units.
func TestLookReadsAsItWasAsked(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		var eventual, all int
		n.Path.Every("Query", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			all++
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			if strings.Contains(string(text), `"ConsistentRead":false`) {
				eventual++
			}
			return send(req)
		})
		n.leasesOf(n.look(dynamolease.Eventual), dynamolease.Eventual)
		if all != 2 || eventual != 2 {
			w.Errorf("%d of %d are eventual", eventual, all)
		}
		n.leasesOf(n.look(dynamolease.Consistent), dynamolease.Consistent)
		if all != 4 || eventual != 2 {
			w.Errorf("%d of %d are eventual", eventual, all)
		}
	})
}
