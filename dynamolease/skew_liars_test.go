package dynamolease_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// misled makes a node that takes the store's time to be off by this much: one machine with a wrong clock has answered it
// from the start. From now on others answer, whose clocks are right.
func (w *world) misled(off time.Duration) *node {
	w.Helper()
	n := w.coldNode()
	n.dates(func(_ int, now time.Time) string { return httpDate(now.Add(off)) })
	for range 12 {
		n.members()
		time.Sleep(300 * time.Millisecond)
	}
	n.Path.Date(nil)
	if earliest, latest, ok := n.Now(); !ok || time.Now().After(earliest) == (off > 0) || time.Now().Before(latest) == (off < 0) {
		w.Fatalf("not misled: %v to %v, %v", earliest, latest, ok)
	}
	return n
}

// LS50: a node that takes the time to be later than it is takes nothing whose expiry the answer itself, which brought the
// row, does not confirm.
func TestJudgedByTheAnswerLS50(t *testing.T) {
	plain := func(a *node) { a.acquire(1, "a") }
	session := func(a *node) {
		a.open("a", ttl)
		a.take(1)
	}
	acquire := func(b *node) (int, error) {
		_, acquired, err := b.Acquire(b.w.Context(), b.w.group, 1, "b", ttl)
		return count(!acquired), err
	}
	for name, c := range map[string]struct {
		hold func(a *node)
		held func(b *node) (int, error) // how many leases or members of the holder b sees
	}{
		"Acquire":            {plain, acquire},
		"Acquire, session":   {session, acquire},
		"AcquireAll":         {plain, acquireBoth},
		"AcquireAll,session": {session, acquireBoth},
		"Session.Acquire":    {session, takeOver},
		"Owners":             {plain, owned},
		"Owners, session":    {session, owned},
		"Members": {session, func(b *node) (int, error) {
			members, err := b.Members(b.w.Context(), b.w.service)
			return len(members), err
		}},
		"Revoke": {plain, func(b *node) (int, error) {
			_, over, err := b.Revoke(b.w.Context(), b.w.group, 1, b.row1Epoch())
			return count(!over), err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				b, a := w.misled(time.Hour), w.node()
				c.hold(a)
				if held, err := c.held(b); err != nil || held != 1 {
					w.Errorf("%d held, %v: the holder is alive", held, err)
				}
				if a.session != nil {
					a.beat()
				} else if left := a.renew("a", 1); name != "Revoke" && len(left) != 1 {
					w.Error("the holder has lost its lease")
				}
			})
		})
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func acquireBoth(b *node) (int, error) {
	_, acquired, err := b.AcquireAll(b.w.Context(), b.w.group, []int{1, 2}, "b", ttl)
	return count(!acquired), err
}

func takeOver(b *node) (int, error) {
	if b.session == nil || b.session.Remaining() == 0 {
		b.open("b", ttl)
	}
	_, acquired, err := b.session.Acquire(b.w.Context(), b.w.group, 1)
	return count(!acquired), err
}

func owned(b *node) (int, error) {
	leases, err := b.Owners(b.w.Context(), b.w.group)
	return len(leases), err
}

func (n *node) row1Epoch() int64 {
	leases := n.w.node().owners()
	if len(leases) != 1 {
		n.w.Fatalf("owners %v", leases)
	}
	return leases[0].Epoch
}

// LS50: one machine answers all that a node asks, with a clock that is 20 s ahead, for so long that the node believes it. A
// session whose heartbeats the node sees come is not dead, whatever the clock and the answers say; when they stop, it is.
func TestHeartbeatsThatAreSeenLS50(t *testing.T) {
	for name, look := range map[string]func(b *node) (int, error){
		"Acquire": func(b *node) (int, error) {
			_, acquired, err := b.Acquire(b.w.Context(), b.w.group, 1, "b", ttl)
			return count(!acquired), err
		},
		"AcquireAll": acquireBoth,
		"Owners":     owned,
		"Members": func(b *node) (int, error) {
			members, err := b.Members(b.w.Context(), b.w.service)
			return len(members), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				for n := range 200 {
					if n == 20 {
						b.dates(func(_ int, now time.Time) string { return httpDate(now.Add(20 * time.Second)) })
					}
					a.beat()
					if held, err := look(b); err != nil || held != 1 {
						w.Fatalf("%d held in round %d, %v, with %v left", held, n, err, lease.Remaining())
					}
					time.Sleep(3 * time.Second)
				}
				if earliest, _, ok := b.Now(); !ok || !earliest.After(time.Now()) {
					w.Error("the node has not been misled: the test shows nothing")
				}
				time.Sleep(ttl)
				if held, err := look(b); err != nil || held != 0 {
					w.Errorf("%d held by a session that is dead, %v", held, err)
				}
			})
		})
	}
}

// LS50: the same of leases with an expiry of their own, whose renewals an acquisition that was refused has seen.
func TestRenewalsThatAreSeenLS50(t *testing.T) {
	acquire := func(b *node) (int, error) {
		_, acquired, err := b.Acquire(b.w.Context(), b.w.group, 1, "b", ttl)
		return count(!acquired), err
	}
	for name, c := range map[string]struct {
		look func(b *node) (int, error)
		last func(b *node, held dynamolease.Lease) (int, error)
	}{
		"Acquire":         {acquire, nil},
		"AcquireAll":      {acquireBoth, nil},
		"Session.Acquire": {takeOver, nil},
		"Revoke": {acquire, func(b *node, held dynamolease.Lease) (int, error) {
			_, over, err := b.Revoke(b.w.Context(), b.w.group, 1, held.Epoch)
			return count(!over), err
		}},
		"Forget": {acquire, func(b *node, _ dynamolease.Lease) (int, error) {
			var held *dynamolease.HeldError
			err := b.Forget(b.w.Context(), b.w.group, 1)
			if errors.As(err, &held) {
				return 1, nil
			}
			return 0, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				lease := a.acquire(1, "a")
				look := func(by func(b *node) (int, error), want int) {
					w.Helper()
					if held, err := by(b); err != nil || held != want {
						w.Fatalf("%d held, want %d, %v, with %v left", held, want, err, lease.Remaining())
					}
				}
				for n := range 200 {
					if n == 20 {
						b.dates(func(_ int, now time.Time) string { return httpDate(now.Add(20 * time.Second)) })
					}
					renewed := a.renew("a", 1)
					if len(renewed) != 1 {
						w.Fatal("the holder has lost its lease")
					}
					lease = renewed[0]
					look(c.look, 1)
					time.Sleep(3 * time.Second)
				}
				if earliest, _, ok := b.Now(); !ok || !earliest.After(time.Now()) {
					w.Error("the node has not been misled: the test shows nothing")
				}
				if c.last != nil {
					a.renew("a", 1)
					look(func(b *node) (int, error) { return c.last(b, lease) }, 1)
					return
				}
				time.Sleep(ttl)
				look(c.look, 0)
			})
		})
	}
}

// LS50: what an acquisition has seen of a lease counts for half of the ttl that the lease has now, and is no reason to keep
// one that nobody renews.
func TestSeenRenewalsEndLS50(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.acquire(1, "a")
		b.refused(1, "b")
		died := time.Now()
		if lease, acquired, err := a.Acquire(w.Context(), w.group, 1, "a", 2*ttl); err != nil || !acquired {
			w.Fatal(lease, err)
		}
		for {
			if _, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil {
				w.Fatal(err)
			} else if acquired {
				break
			}
			time.Sleep(time.Second)
		}
		if late := time.Since(died) - 2*ttl; late < 0 || late > graceOfExpiry {
			w.Errorf("taken %v after its end", late)
		}
		if got := numberOf(b.row(1)["lasts"]); got != decimal(ttl.Milliseconds()) {
			w.Errorf("the row lasts %q", got)
		}
		b.release(1, "b")
		if row := b.row(1); row["lasts"] != nil {
			w.Error("a free row lasts")
		}
		b.acquire(1, "b")
		b.release(1, "b")
		a.open("a", ttl)
		a.take(1)
		if row := b.row(1); row["lasts"] != nil {
			w.Error("a row in a session lasts")
		}
	})
}

// LS50: a row from memory that another owner holds is read again before it is judged.
func TestMemoryIsReadAgainLS50(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		n.acquire(1, "a") // the store remembers the row
		w.expire()
		n.Path.Reset()
		n.acquire(1, "b")
		if reads := n.Path.Count("GetItem"); reads != 1 {
			w.Errorf("%d reads, want 1", reads)
		}
		n.release(1, "b")
		n.Path.Reset()
		n.acquire(1, "c") // nobody's: nothing is judged
		if reads := n.Path.Count("GetItem"); reads > 1 {
			w.Errorf("%d reads", reads)
		}
	})
}

// LS48: what an error in the time has added to a session's expiry goes with the next heartbeat that knows better.
func TestHeartbeatTakesBackAnErrorLS48(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.misled(time.Hour), w.node()
		a.open("a", ttl)
		var member dynamolease.Member
		for range 3 * 20 { // a minute of right dates, over many connections
			time.Sleep(time.Second)
			var err error
			if member, err = a.session.Heartbeat(w.Context()); err != nil {
				w.Fatal(err)
			}
		}
		if left := time.Until(member.ExpiresAt); left > ttl+graceOfExpiry {
			w.Errorf("the row expires in %v", left)
		}
		lease := a.take(1)
		died := time.Now()
		exp, err := strconv.ParseInt(numberOf(a.sessionRow()["exp"]), 10, 64)
		if left := time.UnixMilli(exp).Sub(died); err != nil || left > ttl+graceOfExpiry {
			w.Errorf("the session's row expires in %v, %v", left, err)
		}
		for {
			if _, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil {
				w.Fatal(err)
			} else if acquired {
				break
			}
			if time.Since(died) > ttl+graceOfExpiry {
				w.Fatalf("still held %v after its holder died", time.Since(died))
			}
			time.Sleep(time.Second)
		}
		if lease.Remaining() > 0 {
			w.Errorf("taken with %v left", lease.Remaining())
		}
	})
}

// LS49: without a Date, every call that needs the time fails when its patience is over, and says why, however wrong or
// right the wall clock is; with one it works.
func TestWithoutADateLS49(t *testing.T) {
	for _, op := range operations {
		if strings.Contains(op.name, "Checkpoint") || strings.Contains(op.name, "Transact") || strings.Contains(op.name, "Resume") {
			continue // fenced work asks no clock
		}
		t.Run(op.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.faultyNode(op.each)
				op.prepare(n)
				n.Suspend(ttl / 10) // forgets the time
				n.Path.Date(func(time.Time) string { return "" })
				ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
				defer cancel()
				err := op.call(ctx, n)
				if err == nil || !strings.Contains(err.Error(), "no usable Date") || errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("error %v, want one that says that the time is not known", err)
				}
				if _, _, ok := n.Now(); ok {
					w.Error("the time is known without a date")
				}
			})
		})
	}
}

// LS49: a process that has heard no dates but a proxy's goes by DynamoDB's, once they come, and never by its wall clock, which
// is wrong by hours.
func TestUndatedAnswersAtTheStartLS49(t *testing.T) {
	for _, wrong := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		inVirtualTime(t, func(w *world) {
			right := func(_ int, now time.Time) string { return httpDate(now.Add(-wrong)) }
			a, b := w.coldNode(), w.coldNode()
			a.dates(right)
			b.Path.Date(func(time.Time) string { return "" })
			stop := b.Path.Every("", dynamotest.ServerError(503))
			if _, _, err := b.Acquire(w.Context(), w.group, 9, "b", ttl); err == nil {
				w.Error("acquired")
			}
			stop()
			b.dates(right)
			a.acquire(1, "a")
			b.refused(1, "b")
			if held, err := acquireBoth(b); err != nil || held != 1 {
				w.Errorf("%d held, %v", held, err)
			}
			if held, err := owned(b); err != nil || held != 1 {
				w.Errorf("%d held, %v", held, err)
			}
		})
	}
}

// LS48: one machine of three is 20 s wrong for 10 minutes, and answers whatever meets it: never two holders, and when the
// holder dies, its lease is free after its ttl and the doubt.
func TestOneMachineOfSeveralLS48(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 20 * time.Second, "behind": -20 * time.Second} {
		for _, liar := range []string{"the holder's", "the rival's", "both"} {
			t.Run(name+"/"+liar, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.node(), w.node()
					for range 20 {
						a.owners()
						b.owners()
						time.Sleep(time.Second)
					}
					machines := func(seed uint64) dater {
						r := rand.New(rand.NewPCG(seed, 48))
						return func(_ int, now time.Time) string {
							if r.IntN(3) == 0 {
								now = now.Add(off)
							}
							return httpDate(now)
						}
					}
					if liar != "the rival's" {
						a.dates(machines(1))
					}
					if liar != "the holder's" {
						b.dates(machines(2))
					}
					lease := a.acquire(1, "a")
					for range 200 {
						if held, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil || acquired && lease.Remaining() > 0 {
							w.Fatalf("%+v, %v, with %v left", held, err, lease.Remaining())
						}
						time.Sleep(3 * time.Second)
						if renewed := a.renew("a", 1); len(renewed) == 1 {
							lease = renewed[0]
						} else {
							w.Fatal("the holder has lost its lease")
						}
					}
					for died := time.Now(); ; time.Sleep(time.Second) {
						_, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl)
						if err != nil && !strings.Contains(err.Error(), "nothing is left") { // by the liar's Date
							w.Fatal(err)
						} else if acquired {
							break
						}
						if time.Since(died) > ttl+graceOfExpiry+2*time.Second {
							w.Fatalf("still held %v after its holder died", time.Since(died))
						}
					}
				})
			})
		}
	}
}
