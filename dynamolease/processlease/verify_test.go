package processlease_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

func TestVerifyFence(t *testing.T) {
	subtest(t, "PL21/stands", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		f := b.fenced(a)
		holds := func(when string) {
			w.Helper()
			if ok, err := c.authority.VerifyFence(w.Context(), f); err != nil || !ok {
				w.Errorf("%s: %v, %v", when, ok, err)
			}
		}
		holds("fenced")
		c.takeOver()
		holds("in the third term")

		refused := func(what string, f processlease.Fence, want error) {
			w.Helper()
			if ok, err := c.authority.VerifyFence(w.Context(), f); !errors.Is(err, want) || ok {
				w.Errorf("%s: %v, %v", what, ok, err)
			}
		}
		forged := f
		forged.Successor.Owner = uuid.New()
		refused("another successor", forged, processlease.ErrInvalid)
		forged = f
		forged.Predecessor.Owner = uuid.New()
		refused("another predecessor", forged, processlease.ErrMissing)
		refused("none", processlease.Fence{}, processlease.ErrInvalid)
	})
	for _, which := range []string{"F#", "T#00000000000000000002", "HEAD"} {
		subtest(t, "PL21/missing/"+which[:1], func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			f := b.fenced(a)
			sk := which
			if sk == "F#" {
				sk += a.owner.String()
			}
			w.remove(sk)
			if ok, err := b.authority.VerifyFence(w.Context(), f); ok || !errors.Is(err, processlease.ErrMissing) {
				w.Errorf("%v, %v", ok, err)
			}
		})
	}
	subtest(t, "PL21/head gone back", func(w *world) {
		// Restored by hand, from before the takeover, and with neither of the two boots: nothing is proven.
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		before := w.row("HEAD")
		b.takeOver()
		f := c.fenced(b)
		w.Put(before)
		if ok, err := a.authority.VerifyFence(w.Context(), f); ok || !errors.Is(err, processlease.ErrInvalid) || errors.Is(err, processlease.ErrMissing) {
			w.Errorf("%v, %v", ok, err)
		}
	})
	subtest(t, "PL21/current", func(w *world) {
		// Only rows that were restored by hand can say so.
		a, b := w.boot(), w.boot()
		a.acquire()
		before := w.row("HEAD")
		f := b.fenced(a)
		w.Put(before)
		if ok, err := b.authority.VerifyFence(w.Context(), f); ok || err != nil {
			w.Errorf("the fenced owner holds the lease again: %v, %v", ok, err)
		}
	})
}

func TestVerifyCurrent(t *testing.T) {
	verify := func(b *boot, of *boot, want bool) {
		b.w.Helper()
		if ok, err := b.authority.VerifyCurrentParticipant(b.w.Context(), of.participant()); err != nil || ok != want {
			b.w.Errorf("verified: %v, %v, want %v", ok, err, want)
		}
	}
	subtest(t, "PL22/who holds it", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		if _, err := c.authority.VerifyCurrentParticipant(w.Context(), a.participant()); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("no head: %v", err)
		}
		a.acquire()
		verify(c, a, true)
		verify(c, b, false)
		b.takeOver()
		verify(c, a, false)
		verify(c, b, true)
		b.acquire()
		verify(c, b, true)
	})
	subtest(t, "PL22/term", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.takeOver()
		for term, want := range map[uint64]bool{1: false, 2: true, 3: false} {
			if ok, err := a.authority.VerifyCurrentParticipantTerm(w.Context(), b.participant(), term); err != nil || ok != want {
				w.Errorf("term %d: %v, %v", term, ok, err)
			}
		}
		_, err := a.authority.VerifyCurrentParticipantTerm(w.Context(), b.participant(), 0)
		if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) {
			w.Errorf("term 0: %v", err)
		}
	})
	subtest(t, "PL22/evidence", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.takeOver()
		evidence := w.row("T#00000000000000000002")
		w.remove("T#00000000000000000002")
		if ok, err := a.authority.VerifyCurrentParticipant(w.Context(), b.participant()); ok || !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("without evidence: %v, %v", ok, err)
		}
		record(evidence, "successor")["owner"] = text(uuid.NewString())
		w.Put(evidence)
		if ok, err := a.authority.VerifyCurrentParticipant(w.Context(), b.participant()); ok || !errors.Is(err, processlease.ErrInvalid) || errors.Is(err, processlease.ErrMissing) {
			w.Errorf("evidence of another owner: %v, %v", ok, err)
		}
		record(evidence, "successor")["owner"] = text(b.owner.String())
		record(evidence, "predecessor")["seq"], record(evidence, "successor")["seq"] = number("8"), number("9")
		w.Put(evidence)
		if ok, err := a.authority.VerifyCurrentParticipant(w.Context(), b.participant()); ok || !errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("evidence of a later seq than the head's: %v, %v", ok, err)
		}
	})
	// between has something done between the first and the second reading of the head.
	between := func(w *world, term uint64, do func(holder, rival *boot, o processlease.Observation)) (bool, error) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		holder, rival := a, b
		if term == 2 {
			b.takeOver()
			holder, rival = b, w.boot()
		}
		o := rival.watched()
		door := dynamotest.NewDoor()
		last := int(term) // the reading of the evidence comes second in later terms
		for range last {
			c.Path.Next("GetItem", dynamotest.Around(nil, nil))
		}
		c.Path.Next("GetItem", door.Hold)
		type answer struct {
			ok  bool
			err error
		}
		answered := make(chan answer)
		go func() {
			ok, err := c.authority.VerifyCurrentParticipant(w.Context(), holder.participant())
			answered <- answer{ok, err}
		}()
		<-door.Arrived()
		do(holder, rival, o)
		door.Release()
		got := <-answered
		if n := c.Path.Count("GetItem"); n != last+1 {
			w.Errorf("%d reads, want %d", n, last+1)
		}
		return got.ok, got.err
	}
	for term := uint64(1); term <= 2; term++ {
		subtest(t, "PL22/takeover in between", func(w *world) {
			ok, err := between(w, term, func(_, rival *boot, o processlease.Observation) {
				if out := rival.tryTakeover(o); !out.Acquired {
					w.Errorf("not taken over: %+v", out)
				}
			})
			if ok || err != nil {
				w.Errorf("%v, %v", ok, err)
			}
		})
		subtest(t, "PL22/renewal in between", func(w *world) {
			ok, err := between(w, term, func(holder, _ *boot, _ processlease.Observation) { holder.acquire() })
			if !ok || err != nil {
				w.Errorf("%v, %v", ok, err)
			}
		})
	}
	subtest(t, "PL22/resigned", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		verify(b, a, true)
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		verify(b, a, false)
	})
}
