package processlease

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// clocks are the ways in which a validity can look at the time.
func clocks() map[string]*quickClock {
	system := elapsed.System(false)
	return map[string]*quickClock{
		"system":     newQuickClock(system, &Options{}),
		"no wall":    newQuickClock(elapsed.System(true), &Options{IgnoreWallClock: true}),
		"the user's": {clock: system},
	}
}

func TestValid(t *testing.T) {
	for name, clock := range clocks() {
		t.Run("PL29/"+name, func(t *testing.T) {
			v := newValidity(clock, clock.clock().Max+time.Hour)
			if !v.valid() || !v.extend(clock.clock().Max+2*time.Hour) || !v.valid() {
				t.Fatal("not valid")
			}
			if n := testing.AllocsPerRun(1000, func() { v.valid() }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			if left := v.remaining(); left > 2*time.Hour || left < 2*time.Hour-time.Minute {
				t.Errorf("%v remaining", left)
			}
			v.end()
			if v.valid() || v.extend(clock.clock().Max+time.Hour) || v.valid() || v.remaining() != 0 {
				t.Error("valid after its end")
			}
			if n := testing.AllocsPerRun(1000, func() { v.valid() }); n != 0 {
				t.Errorf("%v allocations after its end", n)
			}
		})
		t.Run("PL29/never late/"+name, func(t *testing.T) {
			early := 0
			for range 10 {
				v := newValidity(clock, clock.clock().Max+20*time.Millisecond)
				deadline := time.Now().Add(20 * time.Millisecond) // or a little before
				for {
					before := time.Now()
					if !v.valid() {
						break
					}
					if !before.Before(deadline) {
						t.Fatalf("valid %v after the deadline", before.Sub(deadline))
					}
				}
				if time.Until(deadline) > time.Millisecond {
					early++
				}
			}
			if early > 5 { // now and then the processor is taken away in between
				t.Errorf("over long before the deadline, %d times of 10", early)
			}
		})
		t.Run("PL29/passed/"+name, func(t *testing.T) {
			v := newValidity(clock, clock.clock().Max)
			if v.valid() || v.extend(clock.clock().Max+time.Hour) {
				t.Error("valid from the deadline on")
			}
		})
	}
}

// An extension and an end at the same time: the end wins, and no reader sees the lease come back.
func TestEndWins(t *testing.T) {
	for name, clock := range clocks() {
		t.Run("PL29/"+name, func(t *testing.T) {
			for range 50 {
				v := newValidity(clock, clock.clock().Max+time.Hour)
				var ended atomic.Bool
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						for i := time.Duration(1); v.extend(clock.clock().Max + time.Hour + i); i++ {
						}
					})
					all.Go(func() {
						over := false
						for range 200 {
							afterEnd := ended.Load()
							switch valid := v.valid(); {
							case valid && over:
								t.Error("valid again after it was not")
							case valid && afterEnd:
								t.Error("valid after its end")
							case !valid:
								over = true
							}
						}
					})
				}
				runtime.Gosched()
				v.end()
				ended.Store(true)
				all.Wait()
				if v.valid() {
					t.Fatal("valid after its end")
				}
			}
		})
	}
}

// The end comes at any moment of an extension: it is over then, and stays over.
func TestEndDuringExtensionPL29(t *testing.T) {
	for at := 2; at < 10; at++ {
		var v *validity
		reads := 0
		v = newValidity(&quickClock{clock: func() elapsed.Reading {
			if reads++; reads == at {
				v.end()
			}
			return elapsed.Reading{}
		}}, time.Hour)
		v.extend(2 * time.Hour)
		for reads < at { // it came after the extension
			v.valid()
		}
		if v.valid() || v.remaining() != 0 || v.extend(3*time.Hour) {
			t.Errorf("valid after an end at reading %d of the clock", at)
		}
	}
}

// Who asks waits for nobody, not even for one who hangs in the middle of asking, or of extending.
func TestNobodyWaitsPL29(t *testing.T) {
	for name, ask := range map[string]func(v *validity){
		"valid": func(v *validity) { v.valid() }, "extend": func(v *validity) { v.extend(2 * time.Hour) },
	} {
		hang, hanging, reads := make(chan struct{}), make(chan struct{}), atomic.Int64{}
		v := newValidity(&quickClock{clock: func() elapsed.Reading {
			if reads.Add(1) == 2 {
				close(hanging)
				<-hang
			}
			return elapsed.Reading{}
		}}, time.Hour)
		var all sync.WaitGroup
		all.Go(func() { ask(v) })
		<-hanging
		answered := make(chan bool, 1)
		all.Go(func() { answered <- v.valid() })
		select {
		case valid := <-answered:
			if !valid {
				t.Errorf("not valid while another hangs in %s", name)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("who asks waits for one who hangs in %s", name)
		}
		close(hang)
		all.Wait()
	}
}

// A deadline that passes while the extension is on its way.
func TestExtensionTooLatePL27(t *testing.T) {
	var now atomic.Int64
	manual := func() elapsed.Reading {
		return elapsed.Reading{Min: time.Duration(now.Load()), Max: time.Duration(now.Load())}
	}
	v := newValidity(&quickClock{clock: manual}, 10)
	now.Store(9)
	if !v.extend(19) {
		t.Fatal("not extended")
	}
	now.Store(19)
	if v.extend(28) || v.valid() {
		t.Error("extended at the deadline")
	}
	now.Store(0)
	if v.valid() {
		t.Error("valid again")
	}

	// It passes between the look at the old deadline and the exchange.
	readings := []time.Duration{0, 9, 9, 10}
	scripted := func() elapsed.Reading {
		r := readings[0]
		readings = readings[min(1, len(readings)-1):]
		return elapsed.Reading{Min: r, Max: r}
	}
	v = newValidity(&quickClock{clock: scripted}, 10)
	if v.extend(19) || v.valid() {
		t.Error("extended while the deadline passed")
	}
}

// The old deadline has passed by a clock that Valid does not look at: an answer that comes then is too late all the same.
func TestExtensionTooLateByAnotherClockPL27(t *testing.T) {
	var boot time.Duration
	clock := &quickClock{clock: func() elapsed.Reading { return elapsed.Reading{Max: boot} }, local: true}
	v := newValidity(clock, time.Hour)
	boot = 90 * time.Minute // a suspend, and a wall clock that was set back in it
	if v.extend(2*time.Hour) || v.valid() || v.remaining() != 0 {
		t.Error("extended after the deadline")
	}
}

func BenchmarkValid(b *testing.B) {
	for name, clock := range clocks() {
		b.Run(name, func(b *testing.B) {
			v := newValidity(clock, clock.clock().Max+time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				if !v.valid() {
					b.Fatal("not valid")
				}
			}
		})
	}
	b.Run("over", func(b *testing.B) {
		clock := clocks()["system"]
		v := newValidity(clock, clock.clock().Max)
		for b.Loop() {
			v.valid()
		}
	})
}
