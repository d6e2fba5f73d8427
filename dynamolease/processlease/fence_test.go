package processlease_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

func TestFence(t *testing.T) {
	t.Run("PL11/neighbours only", func(t *testing.T) {
		a, b := uuid.New(), uuid.New()
		good := processlease.Fence{
			Predecessor: processlease.Record{Node: "n", Owner: a, Term: 3, Seq: 8},
			Successor:   processlease.Record{Node: "n", Owner: b, Term: 4, Seq: 9},
		}
		if err := good.Validate(); err != nil {
			t.Fatal(err)
		}
		for name, spoil := range map[string]func(f *processlease.Fence){
			"same owner":        func(f *processlease.Fence) { f.Successor.Owner = a },
			"another node":      func(f *processlease.Fence) { f.Successor.Node = "m" },
			"no node":           func(f *processlease.Fence) { f.Predecessor.Node, f.Successor.Node = "", "" },
			"same term":         func(f *processlease.Fence) { f.Successor.Term = 3 },
			"term skipped":      func(f *processlease.Fence) { f.Successor.Term = 5 },
			"same seq":          func(f *processlease.Fence) { f.Successor.Seq = 8 },
			"seq skipped":       func(f *processlease.Fence) { f.Successor.Seq = 10 },
			"reversed":          func(f *processlease.Fence) { f.Predecessor, f.Successor = f.Successor, f.Predecessor },
			"nil predecessor":   func(f *processlease.Fence) { f.Predecessor.Owner = uuid.Nil },
			"nil successor":     func(f *processlease.Fence) { f.Successor.Owner = uuid.Nil },
			"term zero":         func(f *processlease.Fence) { f.Predecessor.Term, f.Successor.Term = 0, 1 },
			"seq zero":          func(f *processlease.Fence) { f.Predecessor.Seq, f.Successor.Seq = 0, 1 },
			"term wraps":        func(f *processlease.Fence) { f.Predecessor.Term, f.Successor.Term = math.MaxUint64, 0 },
			"seq wraps":         func(f *processlease.Fence) { f.Predecessor.Seq, f.Successor.Seq = math.MaxUint64, 0 },
			"node is not UTF-8": func(f *processlease.Fence) { f.Predecessor.Node, f.Successor.Node = "\xff", "\xff" },
			"node is too long": func(f *processlease.Fence) {
				n := strings.Repeat("n", 256)
				f.Predecessor.Node, f.Successor.Node = n, n
			},
			"nothing in it":       func(f *processlease.Fence) { *f = processlease.Fence{} },
			"predecessor missing": func(f *processlease.Fence) { f.Predecessor = processlease.Record{} },
		} {
			f := good
			spoil(&f)
			if err := f.Validate(); !errors.Is(err, processlease.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("PL11/property", rapid.MakeCheck(func(t *rapid.T) {
		f := processlease.Fence{Predecessor: leases.Draw(t, "predecessor"), Successor: leases.Draw(t, "successor")}
		p, s := f.Predecessor, f.Successor
		want := p.Node == s.Node && p.Owner != s.Owner && s.Term == p.Term+1 && s.Seq == p.Seq+1 &&
			p.Term > 0 && p.Seq > 0 && s.Term > 0 && s.Seq > 0 && p.Owner != uuid.Nil && s.Owner != uuid.Nil && p.Node != ""
		if err := f.Validate(); (err == nil) != want {
			t.Fatalf("%+v: %v", f, err)
		}
	}))
	subtest(t, "on a journey as JSON", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		f := b.fenced(a)
		data, err := json.Marshal(f)
		if err != nil {
			w.Fatal(err)
		}
		var arrived processlease.Fence
		if err := json.Unmarshal(data, &arrived); err != nil {
			w.Fatal(err)
		}
		arrived.Successor.ExpiresAt = arrived.Successor.ExpiresAt.In(time.FixedZone("far away", 3600))
		if holds, err := w.boot().authority.VerifyFence(w.Context(), arrived); err != nil || !holds {
			w.Errorf("%s: %v, %v", data, holds, err)
		}
	})
}

// leases collide often enough for fences to be valid now and then.
var leases = rapid.Custom(func(t *rapid.T) processlease.Record {
	small := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(math.MaxUint64-1, math.MaxUint64))
	return processlease.Record{
		Node:  rapid.SampledFrom([]string{"a", "a", "b", ""}).Draw(t, "node"),
		Owner: uuid.UUID{15: byte(rapid.IntRange(0, 3).Draw(t, "owner"))},
		Term:  small.Draw(t, "term"),
		Seq:   small.Draw(t, "seq"),
	}
})
