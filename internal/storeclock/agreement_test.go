package storeclock

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A fleet is the machines of the store as one node meets them: each connection ends at one of them.
type fleet struct {
	n      *node
	random *rand.Rand
	wrong  []time.Duration // of each machine's clock

	kept    int // the machine of the connection that is kept
	dials   int
	expired time.Duration // how often a kept connection is dropped; zero for never
	dialled time.Duration
}

// ask makes a request over the connection that the node keeps, or over a new one where the clock wants that.
func (f *fleet) ask() {
	if old := f.n.reading.Min - f.dialled; f.dials == 0 || f.n.clock.Contested() || f.expired > 0 && old > f.expired {
		f.kept = f.random.IntN(len(f.wrong))
		f.dials++
		f.dialled = f.n.reading.Min
	}
	f.n.ask(reply{
		there: time.Duration(f.random.IntN(20)) * time.Millisecond, back: time.Duration(f.random.IntN(20)) * time.Millisecond,
		off: f.wrong[f.kept], over: fmt.Sprint("connection ", f.dials),
	})
}

// pass makes requests for a while, and expects that the bounds hold at each, and do not grow wide.
func (f *fleet) pass(t *testing.T, d, every time.Duration) {
	t.Helper()
	for end := f.n.reading.Min + d; f.n.reading.Min < end; f.n.w.pass(every + time.Duration(f.random.IntN(200))*time.Millisecond) {
		f.ask()
		b, ok := f.n.clock.Now()
		if !ok {
			t.Fatalf("unknown at %v", f.n.reading.Min)
		}
		f.n.contains(t, 0)
		if width := b.Latest.Sub(b.Earliest); width > testSlack+3*time.Second {
			t.Fatalf("the bounds are %v apart at %v", width, f.n.reading.Min)
		}
	}
}

// LS48: one machine of several has a wrong clock, for 10 minutes: whether or not the node's connection is kept, what was
// agreed stays.
func TestOneMachineOfSeveralLS48(t *testing.T) {
	for _, wrong := range []time.Duration{20 * time.Second, -20 * time.Second, time.Hour, -time.Hour, 5 * time.Second, -5 * time.Second} {
		for _, expired := range []time.Duration{0, time.Nanosecond, 20 * time.Second} {
			for _, machines := range []int{3, 4, 10} {
				t.Run(fmt.Sprintf("%v, of %d, kept for %v", wrong, machines, expired), func(t *testing.T) {
					for seed := range uint64(4) {
						f := &fleet{n: newWorld(0).join(0), random: rand.New(rand.NewPCG(seed, 1)), wrong: make([]time.Duration, machines), expired: expired}
						f.begin(t, time.Minute)
						f.wrong[f.kept] = wrong // the very machine that the kept connection ends at
						f.pass(t, 10*time.Minute, time.Second)
						clear(f.wrong)
						f.pass(t, 2*time.Minute, time.Second)
					}
				})
			}
		}
	}
}

// begin makes requests until the time is known.
func (f *fleet) begin(t *testing.T, d time.Duration) {
	t.Helper()
	f.ask()
	f.ask()
	f.pass(t, d, time.Second)
}

// LS48: answers that contradict over one connection, however many in a minute or an hour, do not move what was agreed.
func TestOneConnectionLS48(t *testing.T) {
	for _, off := range []time.Duration{20 * time.Second, -20 * time.Second, time.Hour} {
		n := newWorld(0).join(0)
		for range 30 {
			n.ask(reply{over: "true"})
			n.w.pass(time.Second)
			n.clock.Now()
		}
		for range 3600 {
			n.ask(reply{off: off, over: "false"})
			n.w.pass(time.Second)
			n.contains(t, 0)
			if !n.clock.Contested() {
				t.Fatal("not contested")
			}
		}
	}
}

// An agreement that is wrong, or a pause that no clock of the node saw, ends when all connections contradict it: at once
// when there are many, and after a minute when there are few.
func TestAgreementIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		limit time.Duration
		most  int // answers until it is right again
	}{
		"many": {100 * time.Millisecond, time.Minute, many + 1}, "few": {12 * time.Second, 2 * time.Minute, few + 2},
	} {
		for _, off := range []time.Duration{20 * time.Second, -20 * time.Second} {
			t.Run(fmt.Sprint(name, off), func(t *testing.T) {
				n := newWorld(0).join(0)
				for i := range 10 {
					n.ask(reply{over: fmt.Sprint("before ", i%2)})
					n.w.pass(time.Second)
					n.clock.Now()
				}
				n.w.now = n.w.now.Add(off) // as if the node had not seen that time pass
				start, answers := n.reading.Min, 0
				for ; n.clock.Contested() || answers == 0; answers++ {
					n.ask(reply{over: fmt.Sprint("after ", answers)})
					n.w.pass(c.every)
				}
				if took := n.reading.Min - start; answers > c.most || took > c.limit {
					t.Errorf("given up after %d answers and %v", answers, took)
				}
				n.contains(t, 0)
			})
		}
	}
}

// What was agreed outlasts hours without an answer, and widens by the drift alone.
func TestAgreementWidensByTheDrift(t *testing.T) {
	n := newWorld(0).join(0)
	for range 20 {
		n.ask(reply{})
		n.w.pass(1050 * time.Millisecond)
	}
	before := n.mustNow(t)
	n.w.pass(time.Hour)
	n.ask(reply{off: 20 * time.Second, over: "false"})
	after := n.mustNow(t)
	n.contains(t, 0)
	grown := after.Latest.Sub(after.Earliest) - before.Latest.Sub(before.Earliest)
	if most := 1500*time.Millisecond + 2*testMargin; grown > most {
		t.Errorf("the bounds grew by %v in an hour, want %v at most", grown, most)
	}
}

// What a liar can still do: it answers all, from the first answer on.
func TestWrongFromTheFirstAnswerOn(t *testing.T) {
	n := newWorld(0).join(0)
	for range 30 {
		n.ask(reply{off: 20 * time.Second, over: "false"})
		n.w.pass(time.Second)
	}
	if b := n.mustNow(t); !b.Earliest.After(n.w.now) {
		t.Error("the bounds hold: correct the package comment")
	}
	// It ends when other machines are heard: the first of them makes the node ask over new connections.
	for i := range many + 1 {
		n.ask(reply{over: fmt.Sprint("true ", i)})
		n.w.pass(time.Second)
	}
	n.contains(t, 0)
}
