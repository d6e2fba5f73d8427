package processlease_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// ended waits for the end of a manager. One that goes on beyond its deadline renews, and would for ever.
func (b *boot) ended(m *processlease.Manager) {
	b.w.Helper()
	select {
	case <-m.Done():
	case <-time.After(3 * ttl):
		b.w.Fatalf("the manager goes on, with %v left of %v", m.Remaining(), m.Record())
	}
}

// over waits for the end of a manager and checks that it is final.
func (b *boot) over(m *processlease.Manager, cause error) {
	b.w.Helper()
	b.ended(m)
	if m.Valid() || m.Remaining() != 0 || !errors.Is(m.Err(), cause) {
		b.w.Errorf("valid %v, %v remaining, ended with %v, want %v", m.Valid(), m.Remaining(), m.Err(), cause)
	}
	first := m.Err()
	b.Path.Reset()
	time.Sleep(2 * ttl)
	if m.Valid() || m.Err() != first || b.writes() != 0 {
		b.w.Errorf("later: valid %v, %v, %d writes", m.Valid(), m.Err(), b.writes())
	}
}

// holds checks that the lease is valid, and for how long.
func (b *boot) holds(m *processlease.Manager, remaining time.Duration) {
	b.w.Helper()
	if !m.Valid() || m.Err() != nil || m.Remaining() != remaining {
		b.w.Errorf("valid %v, %v remaining, want %v; %v", m.Valid(), m.Remaining(), remaining, m.Err())
	}
}

// arrivals notes when requests of an operation arrive, counted from now.
func (b *boot) arrivals(op string) func() []time.Duration {
	var mu sync.Mutex
	var times []time.Duration
	began := time.Now()
	b.Path.Every(op, dynamotest.Around(func() {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Since(began))
	}, nil))
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(times)
	}
}

func TestManager(t *testing.T) {
	subtest(t, "PL24/begins with a lease that has time left", func(w *world) {
		a, b := w.boot(), w.boot()
		out := a.try()
		held := b.try()
		forged := processlease.Result{Record: out.Record, Acquired: true}
		for name, build := range map[string]func() error{
			"held by another":      func() error { _, err := processlease.NewManager(w.Context(), held); return err },
			"no outcome of a call": func() error { _, err := processlease.NewManager(w.Context(), forged); return err },
			"nothing":              func() error { _, err := processlease.NewManager(w.Context(), processlease.Result{}); return err },
			"interval ttl":         func() error { _, err := processlease.NewManager(w.Context(), out, every(ttl)); return err },
			"interval zero":        func() error { _, err := processlease.NewManager(w.Context(), out, every(0)); return err },
			"interval negative":    func() error { _, err := processlease.NewManager(w.Context(), out, every(-1)); return err },
		} {
			if argument := new(dynamolease.ArgumentError); !errors.As(build(), &argument) {
				w.Errorf("%s: %v", name, build())
			}
		}
		given := w.bootAs("given-up-" + w.node)
		gone := given.try()
		over, err := processlease.NewManager(w.Context(), gone)
		if err != nil {
			w.Fatal(err)
		}
		if err := over.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		_, err = processlease.NewManager(w.Context(), gone)
		if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) {
			w.Errorf("resigned: %v", err)
		}
		time.Sleep(ttl - 1)
		m, err := processlease.NewManager(w.Context(), out, every(ttl-1))
		if err != nil {
			w.Fatal(err)
		}
		m.Close()
		time.Sleep(time.Nanosecond)
		if _, err := processlease.NewManager(w.Context(), out); !errors.Is(err, processlease.ErrDeadline) {
			w.Errorf("after acquisition start + ttl: %v", err)
		}
		a.Path.Reset()
		time.Sleep(ttl)
		if a.writes() != 0 {
			w.Errorf("%d writes", a.writes())
		}
	})
	subtest(t, "PL25/slow answer", func(w *world) {
		a := w.boot()
		a.Path.Next("UpdateItem", dynamotest.DelayResponse(time.Second))
		m := a.manage() // the acquisition took a second
		a.holds(m, 9*time.Second)
		a.Path.Next("UpdateItem", dynamotest.DelayResponse(1500*time.Millisecond))
		time.Sleep(time.Second + 1499*time.Millisecond) // the renewal that began at 2s is to be answered at 3.5s
		a.holds(m, 6501*time.Millisecond)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		a.holds(m, 8500*time.Millisecond)
		if l := m.Record(); l.Seq != 2 || l != a.load() {
			w.Errorf("lease %v", l)
		}
	})
	subtest(t, "PL25/lost answer", func(w *world) {
		// The attempt that was applied counts, not the one that found out.
		a := w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.LoseResponse())
		time.Sleep(2*time.Second + 250*time.Millisecond)
		synctest.Wait()
		a.holds(m, ttl-250*time.Millisecond)
		if l := m.Record(); l.Seq != 2 {
			w.Errorf("lease %v", l)
		}
	})
	subtest(t, "PL26/tried again soon", func(w *world) {
		a := w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.LoseRequest())
		a.Path.Next("UpdateItem", dynamotest.ServerError(500))
		a.Path.Next("UpdateItem", dynamotest.Throttle())
		a.Path.Next("UpdateItem", dynamotest.AccessDenied())
		times := a.arrivals("UpdateItem")
		time.Sleep(2900 * time.Millisecond)
		a.holds(m, 7100*time.Millisecond) // the old deadline
		time.Sleep(2600 * time.Millisecond)
		want := []time.Duration{2000, 2250, 2500, 2750, 3000, 5000}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if got := times(); !slices.Equal(got, want) {
			w.Errorf("requests at %v, want %v", got, want)
		}
		a.holds(m, 9500*time.Millisecond)
	})
	subtest(t, "PL26/short interval", func(w *world) {
		a := w.boot()
		m := a.manage(every(100 * time.Millisecond))
		a.Path.Next("UpdateItem", dynamotest.LoseRequest())
		times := a.arrivals("UpdateItem")
		time.Sleep(250 * time.Millisecond)
		if got := times(); !slices.Equal(got, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}) {
			w.Errorf("requests at %v", got)
		}
		m.Close()
	})
	subtest(t, "PL26/invalid data", func(w *world) {
		a := w.boot()
		m := a.manage()
		w.meddle("HEAD", "term", text("one"))
		times := a.arrivals("UpdateItem")
		a.over(m, processlease.ErrDeadline)
		want := []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second}
		if got := times(); !slices.Equal(got, want) {
			w.Errorf("requests at %v, want %v", got, want)
		}
	})
	subtest(t, "PL26/head deleted", func(w *world) {
		for _, forgotten := range []bool{false, true} {
			a := w.boot()
			m := a.manage()
			w.remove("HEAD")
			if forgotten {
				// Somebody else uses the same store, so that it does not know the manager's record any more.
				if _, err := a.store.TryAcquire(w.Context(), w.boot().owner); err != nil {
					w.Fatal(err)
				}
				w.remove("HEAD")
			}
			a.over(m, processlease.ErrDeadline)
			if rows := w.rows(); len(rows) > 0 {
				w.Errorf("rows %v", rows)
			}
		}
	})
	subtest(t, "PL27/rival", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		// A rival can only be there before the deadline if somebody's clock was wrong.
		o := b.observe()
		b.Pass(2 * ttl)
		won := b.tryTakeover(o)
		a.ended(m)
		held := new(processlease.HeldError)
		if !won.Acquired || !errors.As(m.Err(), &held) || held.Record != won.Record {
			w.Errorf("ended with %v, want %v in it", m.Err(), won.Record)
		}
		a.over(m, held)
	})
	subtest(t, "PL27/deadline", func(w *world) {
		a := w.boot()
		m := a.manage()
		a.Path.Every("", dynamotest.LoseRequest())
		began := time.Now()
		<-m.Done()
		if took := time.Since(began); took != ttl {
			w.Errorf("lost after %v", took)
		}
		a.over(m, processlease.ErrDeadline)
	})
	subtest(t, "PL27/shutdown", func(w *world) {
		a := w.boot()
		m := a.manage()
		m.Close()
		m.Close()
		a.over(m, processlease.ErrStopped)

		ctx, cancel := context.WithCancelCause(w.Context())
		w.node = "other-" + w.node
		b, c := w.boot(), w.boot()
		m, err := processlease.NewManager(ctx, b.try())
		if err != nil {
			w.Fatal(err)
		}
		defer m.Close()
		reason := errors.New("the program ends")
		cancel(reason)
		b.over(m, processlease.ErrStopped)
		if !errors.Is(m.Err(), reason) {
			w.Errorf("ended with %v, want the reason in it", m.Err())
		}
		if c.refused().Owner != b.owner {
			w.Error("the lease is gone")
		}
	})
	subtest(t, "PL27/shutdown in a request", func(w *world) {
		a := w.boot()
		m := a.manage()
		door := dynamotest.NewDoor()
		a.Path.Next("UpdateItem", door.Hold)
		<-door.Arrived()
		m.Close() // returns although the door stays shut
		a.over(m, processlease.ErrStopped)
	})
	subtest(t, "PL27/suspended", func(w *world) {
		// The loop that starts late writes nothing, and Valid does not wait for it.
		a := w.boot()
		m := a.manage(every(8 * time.Second))
		a.Path.Reset()
		synctest.Wait() // until it sleeps
		a.Step(ttl)
		if left := m.Remaining(); left != 0 || m.Valid() {
			w.Errorf("valid after a suspend for a whole ttl, for %v", left)
		}
		<-m.Done()
		if a.writes() != 0 {
			w.Errorf("%d writes", a.writes())
		}
		a.over(m, processlease.ErrDeadline)
	})
	subtest(t, "PL28/one hang", func(w *world) {
		a := w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.Hang())
		times := a.arrivals("UpdateItem")
		time.Sleep(5 * time.Second)
		got := times()
		// One hang takes a sixth of the ttl, and the next attempt follows soon.
		if len(got) < 2 || got[1]-got[0] > ttl/6+250*time.Millisecond || got[1]-got[0] < ttl/6 || m.Record().Seq < 2 || !m.Valid() {
			w.Errorf("requests at %v, %v", got, m.Record())
		}
	})
	for name, fault := range map[string]func() dynamotest.Fault{"hang": dynamotest.Hang, "hang after": dynamotest.HangAfter} {
		subtest(t, "PL28/every/"+name, func(w *world) {
			a := w.boot()
			began := time.Now()
			m := a.manage()
			deadline := began.Add(ttl)
			a.Path.Every("", fault())
			if name == "hang after" {
				// The first renewal is applied and never answered, so that it does not count.
				time.Sleep(3 * time.Second)
			}
			<-m.Done()
			if !time.Now().Equal(deadline) {
				w.Errorf("lost at %v, want %v", time.Since(began), ttl)
			}
			a.over(m, processlease.ErrDeadline)
		})
	}
	subtest(t, "PL28/deaf client", func(w *world) {
		// Not even a client that ignores its context delays the loss.
		a := w.boot()
		m := a.manage()
		release := make(chan struct{})
		a.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			<-release
			return nil, context.Canceled
		})
		began := time.Now()
		<-m.Done()
		if m.Valid() || time.Since(began) != ttl {
			w.Errorf("valid %v after %v", m.Valid(), time.Since(began))
		}
		close(release)
	})
	subtest(t, "PL30/spares the wait", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		m.Close()
		if held := b.refused(); held.Owner != a.owner || held.Resigned {
			w.Errorf("after Close: %+v", held)
		}
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		if got := b.load(); !got.Resigned || got.Owner != a.owner || got.Term != 1 || got.Seq != 2 {
			w.Errorf("after Resign: %+v", got)
		}
		if err := m.Resign(w.Context()); err != nil || b.load().Seq != 2 {
			w.Errorf("resigned again: %v, %v", err, b.load())
		}
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, processlease.ErrSuperseded) || errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("the boot that resigned wants it back: %v", err)
		}
		if got := b.acquire(); got.Term != 2 || got.Seq != 3 || got.Resigned {
			w.Errorf("the next boot has %+v", got)
		}
		f, err := b.authority.FenceIncarnation(w.Context(), a.participant())
		if err != nil || !f.Predecessor.Resigned || f.Successor.Owner != b.owner {
			w.Errorf("fence %+v, %v", f, err)
		}
		if err := m.Resign(w.Context()); err != nil || b.load().Owner != b.owner {
			w.Errorf("resigned after it was superseded: %v, %v", err, b.load())
		}
	})
	subtest(t, "PL30/in the middle of a renewal", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		deliver := make(chan struct{})
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
		time.Sleep(2500 * time.Millisecond)
		a.Path.Next("UpdateItem", dynamotest.LoseResponse()) // of the resignation itself
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		if m.Valid() {
			w.Error("valid after Resign")
		}
		resigned := b.load()
		close(deliver)
		a.Path.Close()
		if got := b.load(); got != resigned || !got.Resigned {
			w.Errorf("a late renewal made %+v of %+v", got, resigned)
		}
	})
	subtest(t, "PL30/unreachable", func(w *world) {
		a := w.boot()
		m := a.manage()
		a.Path.Every("UpdateItem", dynamotest.LoseResponse())
		if err := m.Resign(w.Context()); err != nil && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("resign: %v", err)
		}
		if m.Valid() {
			w.Error("valid")
		}
	})
}

// What users of other libraries reported: successes that come too late, errors that end the loop, writes that were
// cancelled and applied.
func TestManagerInTrouble(t *testing.T) {
	subtest(t, "PL27/answered after a suspension", func(w *world) {
		// The renewal is applied in time, and the node is suspended before it reads the answer.
		a := w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.Around(nil, func() { a.Step(ttl) }))
		<-m.Done()
		if l := w.boot().load(); l.Owner != a.owner || l.Seq != 2 {
			w.Errorf("the table has %v, want the renewal", l)
		}
		a.over(m, processlease.ErrDeadline)
	})
	subtest(t, "PL27/answered late", func(w *world) {
		a := w.boot()
		m := a.manage(every(9500 * time.Millisecond))
		a.Path.Next("UpdateItem", dynamotest.DelayResponse(time.Second))
		began := time.Now()
		<-m.Done()
		if took := time.Since(began); took != ttl {
			w.Errorf("lost after %v", took)
		}
		a.over(m, processlease.ErrDeadline)
	})
	subtest(t, "C22/counts from the sending", func(w *world) {
		// A renewal answered after 0.9 of its time limit: the deadline counts from its sending, and no rival can be
		// there before.
		a, b := w.boot(), w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.DelayResponse(1500*time.Millisecond))
		a.Path.Every("UpdateItem", dynamotest.Delay(0))
		time.Sleep(2100 * time.Millisecond) // it is applied at 2s
		a.Path.Every("UpdateItem", dynamotest.LoseRequest())
		out := make(chan time.Time)
		go func() {
			b.takeOver()
			out <- time.Now()
		}()
		<-m.Done()
		lost := time.Now()
		if taken := <-out; taken.Before(lost) {
			w.Errorf("taken over %v before it was lost", lost.Sub(taken))
		}
	})
	subtest(t, "C28/no error ends the loop", func(w *world) {
		// No kind of error ends the loop.
		a := w.boot()
		m := a.manage()
		for _, fault := range []dynamotest.Fault{
			dynamotest.LoseRequest(), dynamotest.LoseResponse(), dynamotest.Throttle(), dynamotest.Conflict(), dynamotest.ServerError(500),
			dynamotest.ServerError(503), dynamotest.AccessDenied(), dynamotest.Reply(400, "ValidationException", ""), dynamotest.Reply(418, "Teapot", ""),
			dynamotest.Reply(400, "ResourceNotFoundException", ""),
		} {
			a.Path.Next("UpdateItem", fault)
			seq := m.Record().Seq
			time.Sleep(3 * time.Second)
			if !m.Valid() || m.Record().Seq == seq {
				w.Fatalf("valid %v, seq %d: %v", m.Valid(), m.Record().Seq, m.Err())
			}
		}
	})
	subtest(t, "C33/cancelled after its write", func(w *world) {
		// The context ends after the write landed: the same owner has it at once.
		a := w.boot()
		ctx, cancel := context.WithCancel(w.Context())
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, cancel), dynamotest.HangAfter()))
		if _, err := a.store.TryAcquire(ctx, a.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatal(err)
		}
		if got := a.acquire(); got.Term != 1 {
			w.Errorf("acquired %v", got)
		}
	})
}
