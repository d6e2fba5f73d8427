package processlease_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

func TestTakeover(t *testing.T) {
	subtest(t, "PL4/a whole ttl", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		a.acquire()
		o := b.observe()
		time.Sleep(o.Remaining() - 1)
		if out := b.tryTakeover(o); out.Acquired {
			w.Fatalf("taken over a nanosecond early: %v", out.Record)
		}
		time.Sleep(time.Nanosecond)
		out := b.tryTakeover(o)
		if l := out.Record; !out.Acquired || l.Term != 2 || l.Seq != 3 || l.Owner != b.owner || l != w.boot().load() {
			w.Errorf("taken over: %+v", out)
		}
		if got := b.acquire(); got.Term != 2 || got.Seq != 4 {
			w.Errorf("renewed after the takeover: %v", got)
		}
		if got := a.refused(); got.Owner != b.owner {
			w.Errorf("the former owner is refused with %v", got)
		}
	})
	subtest(t, "PL4/clocks", func(w *world) {
		// The observer's wall clock steps forward: that is no observation.
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.observe()
		b.Step(time.Hour)
		if o.Remaining() < ttl {
			w.Errorf("a step of the wall clock left %v of the observation", o.Remaining())
		}
		if out := b.tryTakeover(o); out.Acquired {
			w.Errorf("taken over on a wall clock's word: %v", out.Record)
		}
		// A holder may count 200 ppm too slowly, and an observer as much too fast.
		slowest, fastest := float64(ttl)*(1+200e-6), float64(o.Remaining())/(1+200e-6)
		if fastest < slowest {
			w.Errorf("the fastest observer waits %v, the slowest holder believes for %v", time.Duration(fastest), time.Duration(slowest))
		}
	})
	subtest(t, "PL4/longer ttl", func(w *world) {
		// The boot that holds the lease was started with a longer ttl, and believes in it for so long.
		a, b := w.bootWith(3*ttl), w.boot()
		a.acquire()
		if left := b.observe().Remaining(); left < 3*ttl {
			w.Errorf("observes for %v, want the holder's 30s", left)
		}
		if left := w.bootWith(4 * ttl).observe().Remaining(); left < 4*ttl {
			w.Errorf("observes for %v, want its own 40s", left)
		}
	})
	subtest(t, "PL5/starts after the read", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Every("GetItem", dynamotest.DelayResponse(time.Second))
		if left := b.observe().Remaining(); left < ttl {
			w.Errorf("%v left when the observation is made, want a full ttl", left)
		}
	})
	subtest(t, "PL5/too early", func(w *world) {
		a, b := w.boot(), w.boot()
		held := a.acquire()
		o := b.observe()
		b.Path.Reset()
		time.Sleep(ttl)
		if out := b.tryTakeover(o); out.Acquired || out.Record != held || len(b.Path.Requests()) != 0 {
			w.Errorf("too early: %+v, %d requests", out, len(b.Path.Requests()))
		}
	})
	for field, value := range map[string]types.AttributeValue{
		"owner": text(uuid.NewString()), "term": number("7"), "seq": number("9"), "exp": number("1"), "rev": text("other"),
		"lasts": number("9999"), "resigned": &types.AttributeValueMemberBOOL{Value: true},
	} {
		subtest(t, "PL5/changed/"+field, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			o := b.watched()
			w.meddle("HEAD", field, value)
			want := b.load()
			if out := b.tryTakeover(o); out.Acquired || out.Record != want {
				w.Errorf("%s changed: %+v, want %v", field, out, want)
			}
		})
	}
	subtest(t, "PL5/renewed", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		renewed := a.acquire()
		if out := b.tryTakeover(o); out.Acquired || out.Record != renewed {
			w.Errorf("renewed: %+v, want %v", out, renewed)
		}
		if !slices.Equal(w.rows(), []string{"HEAD"}) {
			w.Errorf("rows %v", w.rows())
		}
	})
	subtest(t, "PL5/head gone", func(w *world) {
		a, b := w.boot(), w.boot()
		if _, err := b.store.ObserveRival(w.Context(), b.owner); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("observed nobody: %v", err)
		}
		a.acquire()
		o := b.watched()
		w.remove("HEAD")
		if _, err := b.store.TryTakeover(w.Context(), o); !errors.Is(err, processlease.ErrInvalid) || !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("taken over nobody: %v", err)
		}
		// Nor does a renewal make the term start again.
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("renewed what is gone: %v", err)
		}
		if rows := w.rows(); len(rows) > 0 {
			w.Errorf("rows %v", rows)
		}
	})
	subtest(t, "PL6/from oneself", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		a.Path.Reset()
		if _, err := a.store.ObserveRival(w.Context(), a.owner); !errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("observed itself: %v", err)
		}
		if a.writes() != 0 {
			w.Errorf("%d writes", a.writes())
		}
		// What a boot observed before it got the lease itself is of no use either.
		o := b.watched()
		b.tryTakeover(o)
		if out := b.tryTakeover(o); out.Acquired || out.Record.Term != 2 {
			w.Errorf("taken over twice: %+v", out)
		}
	})
	subtest(t, "PL6/superseded owner", func(w *world) {
		// A boot that was superseded never gets the lease again: its fence is there, and could not be written once more.
		a, b := w.boot(), w.boot()
		m := b.bringUp(a)
		if _, err := a.store.ObserveRival(w.Context(), a.owner); !errors.Is(err, processlease.ErrSuperseded) {
			w.Errorf("observed: %v", err)
		}
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, processlease.ErrSuperseded) {
			w.Errorf("acquired from one that resigned: %v", err)
		}
		if got := w.boot().acquire(); got.Term != 3 {
			w.Errorf("the next boot has %v", got)
		}
	})
	subtest(t, "PL7/two usurpers", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		ob, oc := b.observe(), c.observe()
		time.Sleep(oc.Remaining())
		door := dynamotest.NewDoor()
		b.Path.Next("TransactWriteItems", door.Hold)
		late := make(chan processlease.Result)
		go func() { late <- b.tryTakeover(ob) }()
		<-door.Arrived()
		won := c.tryTakeover(oc)
		door.Release()
		if lost := <-late; !won.Acquired || lost.Acquired || lost.Record != won.Record {
			w.Errorf("the late usurper got %+v, want the winner's %+v", lost, won)
		}
		if got := w.boot().load(); got != won.Record {
			w.Errorf("the table has %v, want %v", got, won.Record)
		}
	})
	subtest(t, "PL8/late renewals", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		deliver := make(chan struct{})
		a.Path.Every("UpdateItem", dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("a renewal that is on its way: %v", err)
		}
		b.takeOver()
		before := w.row("HEAD")
		close(deliver)
		a.Path.Close() // waits until all of them have arrived
		if after := w.row("HEAD"); !reflect.DeepEqual(after, before) {
			w.Errorf("late renewals made %v of %v", after, before)
		}
	})
	subtest(t, "PL8/held at the door", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		door := dynamotest.NewDoor()
		a.Path.Next("UpdateItem", door.Hold)
		late := make(chan processlease.Result)
		go func() { late <- a.try() }()
		<-door.Arrived()
		won := b.tryTakeover(o)
		door.Release()
		if lost := <-late; !won.Acquired || lost.Acquired || lost.Record != won.Record || w.boot().load() != won.Record {
			w.Errorf("the former owner's renewal: %+v, want %+v", lost, won)
		}
	})
	subtest(t, "PL8/by a manager", func(w *world) {
		// Its clock stood still, so that it goes on renewing, and resigns.
		a, b := w.boot(), w.boot()
		m := a.manage()
		o := b.observe()
		b.Pass(2 * ttl)
		if out := b.tryTakeover(o); !out.Acquired {
			w.Fatalf("not taken over: %+v", out)
		}
		before := w.row("HEAD")
		a.ended(m)
		if err := m.Resign(w.Context()); err != nil {
			w.Errorf("resign: %v", err)
		}
		if after := w.row("HEAD"); !reflect.DeepEqual(after, before) {
			w.Errorf("the former owner's manager made %v of %v", after, before)
		}
	})
	for name, fault := range map[string]func() dynamotest.Fault{
		"lost": dynamotest.LoseResponse,
		"hung": dynamotest.HangAfter,
		"mismatch": func() dynamotest.Fault {
			return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
				if _, err := send(req); err != nil {
					return nil, err
				}
				return dynamotest.Reply(400, "IdempotentParameterMismatchException", "")(req, send)
			}
		},
		"conflict": func() dynamotest.Fault { return dynamotest.Cancelled("TransactionConflict", "None", "None") },
		"throttle": func() dynamotest.Fault { return dynamotest.Cancelled("None", "ThrottlingError", "None") },
	} {
		subtest(t, "PL9/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			o := b.watched()
			b.Path.Next("TransactWriteItems", fault())
			out := b.tryTakeover(o)
			if l := out.Record; !out.Acquired || l.Term != 2 || l.Seq != 2 || l != w.boot().load() {
				w.Errorf("taken over: %+v", out)
			}
		})
	}
	subtest(t, "PL9/unknown", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		stop := b.Path.Every("TransactWriteItems", dynamotest.HangAfter())
		if _, err := b.store.TryTakeover(w.Context(), o); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("every answer lost: %v", err)
		}
		stop()
		if out := b.tryTakeover(o); !out.Acquired || out.Record.Term != 2 || out.Record.Seq != 3 || out.Fence == nil || out.Fence.Successor.Seq != 2 {
			w.Errorf("tried again: %+v", out)
		}
	})
}

// bringUp has the boot take over from another, and manage the lease.
func (b *boot) bringUp(from *boot) *processlease.Manager {
	b.w.Helper()
	from.acquire()
	m, err := processlease.NewManager(b.w.Context(), b.tryTakeover(b.watched()))
	if err != nil {
		b.w.Fatal(err)
	}
	b.w.Cleanup(m.Close)
	return m
}

// A takeover is one write or none, whatever is in its way.
func TestTakeoverIsAtomic(t *testing.T) {
	for name, fault := range map[string]func() dynamotest.Fault{
		"refused":   func() dynamotest.Fault { return dynamotest.AccessDenied() },
		"cancelled": func() dynamotest.Fault { return dynamotest.Cancelled("None", "ValidationError", "None") },
		"applied":   dynamotest.LoseResponse,
		"lost":      dynamotest.LoseRequest,
	} {
		subtest(t, "PL10/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			o := b.watched()
			ctx, cancel := context.WithCancel(w.Context())
			b.Path.Every("TransactWriteItems", dynamotest.All(dynamotest.Around(nil, cancel), fault()))
			_, err := b.store.TryTakeover(ctx, o)
			if err == nil {
				w.Error("no error")
			}
			want := []string{"HEAD"}
			if b.load().Term == 2 {
				want = []string{"F#" + a.owner.String(), "HEAD", "T#00000000000000000002"}
			}
			if got := w.rows(); !slices.Equal(got, want) || name == "applied" != (len(want) == 3) {
				w.Errorf("after %v the node has %v", err, got)
			}
		})
	}
	for _, sk := range []string{"F#", "T#00000000000000000002"} {
		subtest(t, "PL10/evidence of another/"+sk[:1], func(w *world) {
			a, b := w.boot(), w.boot()
			held := a.acquire()
			o := b.watched()
			if sk == "F#" {
				sk += a.owner.String()
			}
			w.Put(w.key(sk))
			if _, err := b.store.TryTakeover(w.Context(), o); !errors.Is(err, processlease.ErrInvalid) {
				w.Errorf("taken over without evidence: %v", err)
			}
			if got := w.boot().load(); got != held {
				w.Errorf("the table has %v, want %v", got, held)
			}
		})
	}
	subtest(t, "PL10/both fences", func(w *world) {
		a, b := w.boot(), w.boot()
		last := a.acquire()
		first := b.takeOver()
		for _, sk := range []string{"F#" + a.owner.String(), "T#00000000000000000002"} {
			r := w.row(sk)
			if got := leaseIn(w, r, "predecessor"); got != last {
				w.Errorf("%s: predecessor %v, want %v", sk, got, last)
			}
			if got := leaseIn(w, r, "successor"); got != first {
				w.Errorf("%s: successor %v, want %v", sk, got, first)
			}
			if _, dated := r["ttl"]; dated {
				w.Errorf("%s has a ttl", sk)
			}
		}
		if _, dated := w.row("HEAD")["ttl"]; dated {
			w.Error("the head has a ttl")
		}
	})
}

// leaseIn reads a record of a fence, independently of the package.
func leaseIn(w *world, r row, record string) processlease.Record {
	w.Helper()
	m := r[record].(*types.AttributeValueMemberM).Value
	var l processlease.Record
	var exp int64
	l.Node = r["node"].(*types.AttributeValueMemberS).Value
	for name, field := range map[string]any{"term": &l.Term, "seq": &l.Seq, "exp": &exp} {
		if _, err := fmt.Sscan(m[name].(*types.AttributeValueMemberN).Value, field); err != nil {
			w.Fatal(err)
		}
	}
	l.Owner = uuid.MustParse(m["owner"].(*types.AttributeValueMemberS).Value)
	l.ExpiresAt = time.UnixMilli(exp).UTC()
	return l
}
