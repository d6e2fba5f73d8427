package processlease_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// begins makes a manager of a result.
func (b *boot) begins(out processlease.Result) *processlease.Manager {
	b.w.Helper()
	m, err := processlease.NewManager(b.w.Context(), out)
	if err != nil {
		b.w.Fatal(err)
	}
	b.w.Cleanup(m.Close)
	return m
}

// barred checks that no manager begins with any of these results.
func (b *boot) barred(outs ...processlease.Result) {
	b.w.Helper()
	for i, out := range outs {
		m, err := processlease.NewManager(b.w.Context(), out)
		if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) || argument.Argument != "acquired" {
			b.w.Errorf("result %d: %v", i, err)
		}
		if err == nil {
			m.Close()
		}
	}
}

func TestOneManager(t *testing.T) {
	subtest(t, "PL31/two of one result", func(w *world) {
		a := w.boot()
		out := a.try()
		m := a.begins(out)
		a.barred(out)
		a.holds(m, ttl)
	})
	subtest(t, "PL31/a newer result while there is one", func(w *world) {
		a := w.boot()
		m := a.begins(a.try())
		again, err := a.authority.Identity(w.node) // another Identity of the same authority
		if err != nil {
			w.Fatal(err)
		}
		a.barred(a.try(), a.outcome(again.TryAcquire(w.Context(), a.owner)))
		a.holds(m, ttl)
	})
	subtest(t, "PL31/older results", func(w *world) {
		a := w.boot()
		one, two := a.try(), a.try()
		a.begins(one).Close()
		a.barred(one)
		m := a.begins(two)
		time.Sleep(time.Second)
		three := a.try()
		time.Sleep(2 * time.Second) // the manager renews
		m.Close()
		a.barred(one, two, three)
		a.begins(a.try())
	})
	subtest(t, "PL31/of a takeover", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		out := b.tryTakeover(o)
		m := b.begins(out)
		b.barred(out, b.tryTakeover(o))
		if !m.Valid() {
			w.Error("not valid")
		}
	})
	subtest(t, "PL31/others are not concerned", func(w *world) {
		a := w.boot()
		a.begins(a.try())
		other, err := a.authority.Identity("other-" + w.node)
		if err != nil {
			w.Fatal(err)
		}
		a.begins(a.outcome(other.TryAcquire(w.Context(), a.owner)))
		third, err := a.authority.Identity("third-" + w.node)
		if err != nil {
			w.Fatal(err)
		}
		a.begins(a.outcome(third.TryAcquire(w.Context(), uuid.New())))
	})
	subtest(t, "PL31/expired", func(w *world) {
		// The manager is over by time, and has not resigned: the owner may go on.
		a := w.boot()
		m := a.manage()
		stop := a.Path.Every("", dynamotest.LoseRequest())
		<-m.Done()
		stop()
		a.begins(a.try())
	})
	subtest(t, "PL31/lost", func(w *world) {
		a, b := w.boot(), w.boot()
		out := a.try()
		m := a.begins(out)
		o := b.observe()
		b.Pass(2 * ttl)
		b.tryTakeover(o)
		a.ended(m)
		a.barred(out)
	})
	for name, fault := range map[string]dynamotest.Fault{
		"after Resign": nil, "after a Resign that failed": dynamotest.LoseRequest(), "after a Resign that was throttled": dynamotest.Throttle(),
	} {
		subtest(t, "PL31/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			one := a.try()
			m := a.begins(one)
			m.Close()
			time.Sleep(time.Millisecond)
			two := a.try()
			other := a.begins(two) // of the same boot
			works := fault == nil
			stop := func() {}
			if !works {
				stop = a.Path.Every("UpdateItem", fault)
			}
			if err := m.Resign(w.Context()); (err == nil) != works {
				w.Errorf("resign: %v", err)
			}
			a.over(other, processlease.ErrStopped)
			a.barred(one, two)
			stop()
			if works {
				b.begins(b.try())
				return
			}
			a.barred(a.try()) // it has the lease still, and no manager of it
			if err := m.Resign(w.Context()); err != nil {
				w.Error(err)
			}
			b.begins(b.try())
		})
	}
}

// Acquisitions, managers and resignations of one boot at once, and the next boot as soon as it can: two managers are never valid
// together.
func TestOneManagerAtAnyTimePL31(t *testing.T) {
	for seed := range uint64(20) {
		inVirtualTime(t, func(w *world) {
			a, b := w.boot(), w.boot()
			var mu sync.Mutex
			var all []*processlease.Manager
			begin := func(out processlease.Result) {
				if m, err := processlease.NewManager(w.Context(), out); err == nil {
					mu.Lock()
					defer mu.Unlock()
					all = append(all, m)
				}
			}
			a.try()
			var calls sync.WaitGroup
			for i := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, i))
				calls.Go(func() {
					for range 20 {
						time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
						if out, err := a.store.TryAcquire(w.Context(), a.owner); err == nil && out.Acquired {
							time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
							begin(out)
						}
						mu.Lock()
						var m *processlease.Manager
						if len(all) > 0 {
							m = all[r.IntN(len(all))]
						}
						mu.Unlock()
						if m != nil && r.IntN(3) == 0 {
							m.Close()
						}
						if m != nil && r.IntN(40) == 0 {
							if err := m.Resign(w.Context()); err != nil {
								w.Errorf("resign: %v", err)
							}
							if out, err := b.store.TryAcquire(w.Context(), b.owner); err == nil && out.Acquired {
								begin(out)
							}
						}
					}
				})
			}
			done := make(chan struct{})
			go func() { calls.Wait(); close(done) }()
			for running := true; running; {
				select {
				case <-done:
					running = false
				case <-time.After(time.Millisecond):
				}
				mu.Lock()
				valid := 0
				for _, m := range all {
					if m.Valid() {
						valid++
					}
				}
				mu.Unlock()
				if valid > 1 {
					w.Errorf("seed %d: %d managers are valid", seed, valid)
					running = false
				}
			}
			<-done
			for _, m := range all {
				m.Close()
			}
		})
	}
}

// The owner is in a later term: somebody deleted the fence against it, or its retention has passed. Its former manager is told
// that it lost the lease, not that it resigned.
func TestOwnerInALaterTermPL27(t *testing.T) {
	subtest(t, "PL27", func(w *world) {
		a, b, again := w.boot(), w.boot(), w.boot()
		m := a.manage()
		o := b.observe()
		b.Pass(2 * ttl)
		if err := b.begins(b.tryTakeover(o)).Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.remove("F#" + a.owner.String())
		later := again.outcome(again.store.TryAcquire(w.Context(), a.owner))
		a.ended(m)
		held := new(processlease.HeldError)
		if !errors.As(m.Err(), &held) || held.Record != later.Record || later.Record.Term != 3 {
			w.Errorf("ended with %v, want %v in it", m.Err(), later.Record)
		}
	})
}

// An authority forgets boots, and an identity the writes of an outage.
func TestMemoryLS56(t *testing.T) {
	t.Run("boots", func(t *testing.T) {
		w := newWorld(t)
		a := w.boot()
		for range 50 {
			s, err := a.authority.Identity(uuid.NewString())
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.TryAcquire(t.Context(), uuid.New())
			if err != nil {
				t.Fatal(err)
			}
			m, err := processlease.NewManager(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			if runtime.GC(); a.authority.Boots() == 0 {
				return
			}
		}
		t.Errorf("%d boots", a.authority.Boots())
	})
	subtest(t, "writes", func(w *world) {
		a := w.boot()
		a.acquire()
		stop := a.Path.Every("UpdateItem", dynamotest.LoseResponse())
		for range 200 {
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			_, _ = a.store.TryAcquire(ctx, a.owner) // it fails, or finds what it wrote
			cancel()
		}
		if noted, pending := a.store.Writes(); noted > 64 || pending > 64 {
			w.Errorf("%d writes, %d pending", noted, pending)
		}
		stop()
		a.acquire()
		if noted, pending := a.store.Writes(); noted > 0 || pending > 0 {
			w.Errorf("after an answer: %d writes, %d pending", noted, pending)
		}
	})
}
