package storeclock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A fleet is the machines of the store as one node meets them: each connection ends at one of them.
type fleet struct {
	n      *node
	random *rand.Rand
	wrong  []time.Duration // of each machine's clock

	open    bool // a connection is kept
	kept    int  // its machine
	dials   int
	expired time.Duration // how often a kept connection is dropped; zero for never
	dialled time.Duration
}

// ask makes a request over the connection that the node keeps, or over a new one. The connection is closed afterwards where the
// clock wants to hear other machines.
func (f *fleet) ask() {
	closing := f.n.clock.Unsettled()
	defer func() { f.open = !closing }()
	if old := f.n.reading.Min - f.dialled; !f.open || f.expired > 0 && old > f.expired {
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
		for i := range 30 {
			n.ask(reply{over: fmt.Sprint("true ", i%2)})
			n.w.pass(time.Second)
			n.clock.Now()
		}
		for range 3600 {
			n.ask(reply{off: off, over: "false"})
			n.w.pass(time.Second)
			n.contains(t, 0)
			if !n.clock.Unsettled() {
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
				for ; n.clock.Unsettled() || answers == 0; answers++ {
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
	for i := range 30 {
		n.ask(reply{off: 20 * time.Second, over: fmt.Sprint("false ", i%2)})
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

// LS48: while nothing is agreed, all the answers over one connection agree nothing, however many they are, and the next
// requests are to go over others. Two connections agree.
func TestOneConnectionAgreesNothingLS48(t *testing.T) {
	for name, lose := range map[string]func(n *node){
		"at the start": func(*node) {}, "after a suspend": func(n *node) { n.suspend(time.Minute) },
		"after a step": func(n *node) { n.stepWall(640 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			n := newWorld(0).join(0)
			if name != "at the start" {
				for i := range 10 {
					n.ask(reply{over: fmt.Sprint("before ", i)})
				}
				if n.clock.Unsettled() {
					t.Fatal("nothing is agreed")
				}
			}
			lose(n)
			for i := range 100 {
				if !n.clock.Unsettled() {
					t.Fatalf("agreed after %d answers over one connection", i)
				}
				n.ask(reply{off: 640 * time.Second, over: "false"})
				n.w.pass(time.Second)
			}
			for i := 0; n.clock.Unsettled(); i++ { // ten right answers for each wrong one that is kept
				if i > 10*maxSamples {
					t.Fatal("never agreed")
				}
				n.ask(reply{over: fmt.Sprint("true ", i)})
				n.w.pass(time.Second)
			}
			n.contains(t, 0)
		})
	}
}

// LS48: the clocks of a node disagree, and the connection that it has kept ends at the one machine whose clock is wrong. That
// machine is asked once, and nothing is agreed with it.
func TestKeptConnectionAfterAStepLS48(t *testing.T) {
	for _, wrong := range []time.Duration{640 * time.Second, -640 * time.Second, 20 * time.Second} {
		for seed := range uint64(20) {
			f := &fleet{n: newWorld(0).join(0), random: rand.New(rand.NewPCG(seed, 2)), wrong: make([]time.Duration, 4)}
			f.begin(t, time.Minute)
			if !f.open {
				t.Fatal("no connection is kept")
			}
			f.wrong[f.kept] = wrong
			f.n.stepWall(time.Hour)
			f.ask()
			f.wrong = slices.Delete(f.wrong, f.kept, f.kept+1) // no new connection ends there
			f.ask()
			f.ask()
			f.pass(t, time.Minute, time.Second)
			if f.n.clock.Unsettled() {
				t.Error("nothing is agreed after a minute")
			}
		}
	}
}

// A clock of the node is slewed, by up to a twelfth: what was agreed stays as long as requests are made now and then, and takes
// in how far the clocks part.
func TestSlewedClocksKeepTheAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		for i := range 8 {
			n.ask(reply{over: fmt.Sprint(i)})
			n.w.pass(300 * time.Millisecond)
		}
		for range rapid.IntRange(1, 100).Draw(t, "rounds") {
			n.slow = rapid.Float64Range(0, 1.0/24).Draw(t, "slow")
			n.fast = rapid.Float64Range(0, 1.0/24).Draw(t, "fast")
			n.w.pass(drawDuration(t, 0, 4*time.Second, "pause"))
			for range 2 {
				n.ask(reply{there: drawDuration(t, 0, 20*time.Millisecond, "there"), over: "kept"})
			}
			n.contains(t, 0)
			if n.clock.Unsettled() {
				t.Fatalf("given up at %v", n.reading)
			}
			if b := n.mustNow(t); b.Latest.Sub(b.Earliest) > testSlack+3*time.Second {
				t.Fatalf("the bounds are %v apart", b.Latest.Sub(b.Earliest))
			}
		}
	})
}

// Whatever the clocks of a node do: as long as the time is known, the bounds hold, and none of an expiry that is written from
// Latest is owed to a step, beyond what a date leaves open: a longer one makes the time unknown.
func TestStepsAreNotTakenForSlewing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		ask := func() {
			n.ask(reply{there: drawDuration(t, 0, 100*time.Millisecond, "there"), over: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "over")})
		}
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			switch d := drawDuration(t, 0, 15*time.Second, "for"); rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				n.suspend(d)
			case 1:
				n.stepWall(d)
			case 2:
				n.slow, n.fast = rapid.Float64Range(0, 1.0/24).Draw(t, "slow"), rapid.Float64Range(0, 1.0/24).Draw(t, "fast")
			case 3:
				n.w.pass(d)
			default:
				ask()
			}
			b, ok := n.clock.Now()
			if !ok {
				continue
			}
			n.contains(t, 0)
			// A date leaves a second open, and so do the clocks twice: since the vote, and since the samples before it.
			if late := b.Latest.Sub(n.w.now); late > testSlack+2*time.Second+2*testMargin+100*time.Millisecond+2*(slewMost+clockTolerance)/2 {
				t.Fatalf("Latest is %v ahead", late)
			}
		}
	})
}
