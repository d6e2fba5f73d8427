package request

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errBusy = coded(400, "ThrottlingException")

// A pace that nobody throttles holds nothing up, and a nil one never does.
func TestPaceWithoutThrottlingLS57(t *testing.T) {
	for _, p := range []*Pace{nil, NewPace()} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			for range 100 {
				if !p.Turn(t.Context(), began.Add(time.Second)) {
					t.Fatal("no turn")
				}
				p.Answered(time.Now(), Done, nil)
				p.Answered(time.Now(), Unknown, errors.New("lost"))
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("held up for %v", took)
			}
		})
	}
}

// All callers slow down together: however many there are, and whatever is let through, at most three times as many attempts are made.
// When the store has recovered, so have they within half a minute.
func TestPaceSlowsAllDownTogetherLS57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, each = 32, 500 * time.Millisecond // two requests a second are let through
		p, began := NewPace(), time.Now()
		var mu sync.Mutex
		var latest time.Time
		sent, through := 0, 0
		ask := func(free bool) error {
			mu.Lock()
			defer mu.Unlock()
			sent++
			if !free && time.Since(latest) < each {
				return errBusy
			}
			latest = time.Now()
			through++
			return nil
		}
		call := func(free bool) {
			if p.Turn(t.Context(), time.Now().Add(5*time.Second)) {
				at := time.Now()
				err := ask(free)
				p.Answered(at, Classify(err), err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		var running sync.WaitGroup
		for range callers {
			running.Go(func() {
				for time.Since(began) < 2*time.Minute {
					call(false)
				}
				for time.Since(began) < 150*time.Second {
					call(true)
				}
			})
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if sent > 3*through || through < 60 {
			t.Errorf("%d sent, %d let through", sent, through)
		}
		mu.Unlock()
		running.Wait()
		if p.gap != 0 {
			t.Errorf("the gap is %v after half a minute without throttling", p.gap)
		}
	})
}

// Who waits for a turn gives up at its end, or with its context, and takes no turn from others.
func TestPaceGivesUpInTimeLS57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace()
		for range 10 {
			p.Turn(t.Context(), time.Now().Add(time.Minute))
			time.Sleep(time.Millisecond)
			p.Answered(time.Now(), NotDone, errBusy)
		}
		p.Turn(t.Context(), time.Now().Add(time.Minute))
		began := time.Now()
		if p.Turn(t.Context(), began.Add(time.Second)) || time.Since(began) != time.Second {
			t.Errorf("a turn, or %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if p.Turn(ctx, began.Add(time.Minute)) || time.Since(began) != 2*time.Second {
			t.Errorf("a turn, or %v", time.Since(began))
		}
		if !p.Turn(t.Context(), began.Add(2*longestGap)) || time.Since(began) > longestGap*5/4+time.Second {
			t.Errorf("the next turn came after %v", time.Since(began))
		}
	})
}

// Answers to requests that were sent before the latest change say nothing of it: of requests that were throttled together the first slows
// the others down.
func TestPaceCountsOnceLS57(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sent := NewPace(), time.Now()
		time.Sleep(time.Millisecond)
		for range 50 {
			p.Answered(sent, NotDone, errBusy)
		}
		if p.gap != firstGap {
			t.Errorf("the gap is %v after one burst", p.gap)
		}
	})
}
