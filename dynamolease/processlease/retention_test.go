package processlease_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// dated tells which terms' fences have a ttl, both rows of each alike, and checks that it is as far away as it should be.
func dated(w *world, boots []*boot, retention time.Duration) string {
	w.Helper()
	var terms string
	for i := range boots[:len(boots)-1] {
		term := i + 2
		keys := []string{"F#" + boots[i].owner.String(), fmt.Sprintf("T#%020d", term)}
		one, other := w.row(keys[0])["ttl"], w.row(keys[1])["ttl"]
		if (one == nil) != (other == nil) {
			w.Errorf("term %d: one fence has a ttl, the other has not", term)
		}
		if one == nil {
			continue
		}
		terms += strconv.Itoa(term)
		seconds, err := strconv.ParseInt(one.(*types.AttributeValueMemberN).Value, 10, 64)
		// Terms were superseded up to a minute ago, in these tests.
		latest := time.Now().Add(retention + 5*time.Second)
		if at := time.Unix(seconds, 0); err != nil || at.Before(latest.Add(-time.Minute)) || at.After(latest) {
			w.Errorf("term %d ends at %v, want %v", term, at, latest)
		}
	}
	if w.row("HEAD")["ttl"] != nil {
		w.Error("the head has a ttl")
	}
	return terms
}

func TestRetention(t *testing.T) {
	const days90 = 90 * 24 * time.Hour
	// chain has n boots hold the lease one after the other.
	chain := func(w *world, n int, optFns ...func(*processlease.Options)) []*boot {
		boots := []*boot{w.boot(optFns...)}
		boots[0].acquire()
		for range n - 1 {
			b := w.boot(optFns...)
			b.takeOver()
			b.authority.Close()
			boots = append(boots, b)
		}
		return boots
	}
	subtest(t, "superseded terms only", func(w *world) {
		boots := chain(w, 2)
		if got := dated(w, boots, days90); got != "" {
			w.Errorf("terms %s have a ttl, want none while the second is current", got)
		}
		for len(boots) < 4 {
			b := w.boot()
			b.takeOver()
			b.authority.Close()
			boots = append(boots, b)
			if got, want := dated(w, boots, days90), "23"[:len(boots)-2]; got != want {
				w.Errorf("terms %s have a ttl, want %s", got, want)
			}
			for _, former := range boots[:len(boots)-1] {
				if _, err := b.authority.FenceIncarnation(w.Context(), former.participant()); err != nil {
					w.Errorf("a dated fence: %v", err)
				}
			}
			if ok, err := b.authority.VerifyCurrentParticipant(w.Context(), b.participant()); !ok || err != nil {
				w.Errorf("the current term: %v, %v", ok, err)
			}
		}
	})
	subtest(t, "configured", func(w *world) {
		boots := chain(w, 3, func(o *processlease.Options) { o.FenceRetention = time.Hour })
		if got := dated(w, boots, time.Hour); got != "2" {
			w.Errorf("terms %s have a ttl", got)
		}
	})
	subtest(t, "kept for ever", func(w *world) {
		boots := chain(w, 4, func(o *processlease.Options) { o.FenceRetention = processlease.KeepFences })
		if got := dated(w, boots, 0); got != "" {
			w.Errorf("terms %s have a ttl", got)
		}
	})
	subtest(t, "made up for", func(w *world) {
		// What one takeover could not date, the next one does.
		boots := chain(w, 3, func(o *processlease.Options) { o.FenceRetention = processlease.KeepFences })
		for range 2 {
			b := w.boot()
			b.takeOver()
			b.authority.Close()
			boots = append(boots, b)
		}
		if got := dated(w, boots, days90); got != "234" {
			w.Errorf("terms %s have a ttl", got)
		}
	})
	subtest(t, "nothing waits for it", func(w *world) {
		boots := chain(w, 2)
		b := w.boot()
		o := b.watched()
		b.Path.Every("UpdateItem", dynamotest.Hang()) // that is dating, as renewals come later
		began := time.Now()
		out := b.tryTakeover(o)
		if !out.Acquired || time.Since(began) > 0 {
			w.Errorf("%+v after %v", out, time.Since(began))
		}
		b.authority.Close()
		if took := time.Since(began); took > 11*time.Second {
			w.Errorf("closed after %v", took)
		}
		if got := dated(w, append(boots, b), days90); got != "" {
			w.Errorf("terms %s have a ttl", got)
		}
	})
}
