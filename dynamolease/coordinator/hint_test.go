package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/hint"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A wire carries hints between the nodes of a fleet: from the sender that applications use to the handler
// that they use, in virtual time.
type wire struct {
	find func(address string) (n *node, gone bool) // nil: no process; gone: its host does not answer
	fate func() (copies int, late time.Duration)   // nil: each arrives once, at once

	mu      sync.Mutex
	carried int
	late    sync.WaitGroup
}

const wireLatency = 5 * time.Millisecond

// RoundTrip carries one hint. What is late arrives although the sender has given up.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	n, gone := w.find(r.URL.Host)
	switch {
	case gone:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case n == nil:
		return nil, errors.New("connection refused")
	}
	copies, late := 1, time.Duration(0)
	w.mu.Lock()
	w.carried++
	if w.fate != nil {
		copies, late = w.fate()
	}
	w.mu.Unlock()
	answers := make(chan *http.Response, copies)
	w.late.Go(func() {
		time.Sleep(wireLatency + late)
		for range copies {
			recorder := httptest.NewRecorder()
			hint.Handler(n.Look).ServeHTTP(recorder, r.WithContext(context.WithoutCancel(r.Context())))
			answers <- recorder.Result()
		}
	})
	select {
	case answer := <-answers:
		return answer, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.carried
}

// sending has a node send its hints over the wire.
func (w *wire) sending() setting {
	return func(c *coordinator.Config) {
		c.Hint = (&hint.Sender{Client: &http.Client{Transport: w}}).Send
	}
}

// wired connects the nodes of a fleet.
func wired(f **paced) setting {
	w := &wire{find: func(address string) (*node, bool) { return (*f).at(address) }}
	return w.sending()
}

// at finds a node of the fleet by its address.
func (f *paced) at(address string) (n *node, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = f.byName[strings.TrimSuffix(address, ":1")]
	return n, n != nil && n.dead
}

// membersRead has each read of the members noted.
func membersRead(w *world, n *node, note func()) (stop func()) {
	return n.path.Every("Query", onRow("M#"+w.service, dynamotest.Around(note, nil)))
}

// However many hints are forged, a node makes ten looks at the members a second at the most, and none at
// the owners. It works on meanwhile.
func TestForgedHintsCO30(t *testing.T) {
	for name, look := range map[string]time.Duration{"at the defaults": interval, "with a quick look": 150 * time.Millisecond} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.start("a", 20, looking(look)), w.start("b", 20)
				w.settle(20, a, b)
				var mu sync.Mutex
				var looks []time.Time
				var owners atomic.Int32
				defer membersRead(w, a, func() {
					mu.Lock()
					defer mu.Unlock()
					looks = append(looks, time.Now())
				})()
				defer a.path.Every("Query", onRow("L#"+w.group, dynamotest.Around(func() { owners.Add(1) }, nil)))()
				a.path.Reset()
				moves, rounds := w.moves(), a.State().Rounds
				const forged, span = 10_000, 10 * time.Second
				for range forged {
					recorder := httptest.NewRecorder()
					hint.Handler(a.Look).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, hint.Path, strings.NewReader("forged")))
					if recorder.Code != http.StatusNoContent {
						w.Fatalf("answered %d", recorder.Code)
					}
					time.Sleep(span / forged)
				}
				mu.Lock()
				defer mu.Unlock()
				for i := range looks {
					if i >= 10 && looks[i].Sub(looks[i-10]) < time.Second {
						w.Errorf("eleven looks in %v", looks[i].Sub(looks[i-10]))
					}
				}
				if len(looks) < 90 || len(looks) > 101 {
					w.Errorf("%d looks in %v", len(looks), span)
				}
				if resyncs := int32(2); owners.Load() > resyncs {
					w.Errorf("%d reads of the owners", owners.Load())
				}
				if got := a.State().Rounds - rounds; got < 2 || got > 4 {
					w.Errorf("%d rounds in %v", got, span)
				}
				if beats := a.path.Count("UpdateItem"); beats < 2 || beats > 4 {
					w.Errorf("%d heartbeats in %v", beats, span)
				}
				if w.moves() != moves || !w.balanced(20, a, b) || a.Health() != nil {
					w.Errorf("%d moves, %v, %v", w.moves()-moves, w.shares(a, b), a.Health())
				}
			})
		})
	}
}

// Hints that are lost, late or doubled cost time, and nothing else: no partition is worked twice, and as
// few move as have to.
func TestHintsThatGoWrongCO30(t *testing.T) {
	for name, fate := range map[string]func(r *rand.Rand) (copies int, late time.Duration){
		"lost":    func(*rand.Rand) (int, time.Duration) { return 0, 0 },
		"late":    func(r *rand.Rand) (int, time.Duration) { return 1, time.Duration(r.Int64N(int64(2 * ttl))) },
		"doubled": func(r *rand.Rand) (int, time.Duration) { return 1 + r.IntN(5), 0 },
		"all that": func(r *rand.Rand) (int, time.Duration) {
			return r.IntN(4), []time.Duration{0, 0, time.Duration(r.Int64N(int64(ttl)))}[r.IntN(3)]
		},
	} {
		t.Run("CO30/"+name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			inVirtualTime(t, func(w *world) {
				w.Logf("the seed is %d", seed)
				fates := rand.New(rand.NewPCG(seed, 1)) // the wire's alone
				h := newHinted(w, rand.New(rand.NewPCG(seed, 0)), func() (int, time.Duration) { return fate(fates) })
				for i := range testkit.Size(3, 18) {
					h.change(i)
				}
				if h.wire.count() == 0 {
					w.Error("no hints were sent")
				}
			})
		})
	}
}

// A hinted is a fleet over a wire, in which nodes join, stop and crash by turns.
type hinted struct {
	*world
	wire   *wire
	random *rand.Rand
	nodes  []*node // those that are there
	born   int
	hints  int              // sent before the latest change
	all    map[string]*node // by address, under the watch's mutex
}

const hintedPartitions = 60

func newHinted(w *world, random *rand.Rand, fate func() (copies int, late time.Duration)) *hinted {
	h := &hinted{world: w, random: random, all: make(map[string]*node)}
	h.wire = &wire{fate: fate, find: func(address string) (*node, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		n := h.all[address]
		return n, n != nil && n.dead
	}}
	w.contend()
	w.Cleanup(h.wire.late.Wait)
	for range 6 {
		h.join()
	}
	w.settle(hintedPartitions, h.nodes...)
	return h
}

func (h *hinted) join() {
	n := h.prepare(fmt.Sprintf("n%02d", h.born), hintedPartitions, h.wire.sending())
	n.path.Latency(fleetLatency)
	h.born++
	h.mu.Lock()
	h.all[n.name+":1"] = n
	h.mu.Unlock()
	h.nodes = append(h.nodes, n)
	n.begin(context.Background())
}

// change makes the ith change, and checks that as few partitions move as have to.
func (h *hinted) change(i int) {
	h.Helper()
	before := h.moves()
	h.hints = h.wire.count()
	name := []string{"join", "stop", "crash"}[i%3]
	if name == "join" {
		h.join()
		h.changed(name, before, append(h.shares(h.nodes[:len(h.nodes)-1]...), 0))
		return
	}
	at := h.random.IntN(len(h.nodes))
	n := h.nodes[at]
	h.nodes = slices.Delete(slices.Clone(h.nodes), at, at+1)
	kept := h.shares(h.nodes...)
	if name == "stop" {
		n.stop()
	} else {
		n.crash()
	}
	h.changed(name, before, kept)
}

func (h *hinted) changed(name string, before int, kept []int) {
	h.Helper()
	took := h.within(ttl+grace+2*round, name+": in balance", func() bool { return h.balanced(hintedPartitions, h.nodes...) })
	time.Sleep(3*round + time.Duration(h.random.Int64N(int64(round))))
	want := fewest(hintedPartitions, kept)
	if got := h.moves() - before; got < want || got > want+straggling {
		h.Errorf("%s: %d moves, %d would do", name, got, want)
	}
	h.Logf("%s: %d nodes in balance after %v, %d hints", name, len(h.nodes), took, h.wire.count()-h.hints)
}

// Whatever Config.Hint does, the node works on: it sends heartbeats, looks, plans, answers, and stops.
func TestHintsThatHangCO30(t *testing.T) {
	for name, test := range map[string]struct {
		hint func(ctx context.Context, over <-chan struct{})
		ends time.Duration // by how much Run may end later than without hints
	}{
		"never returns":  {func(_ context.Context, over <-chan struct{}) { <-over }, time.Second},
		"ends with Run":  {func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() }, time.Second},
		"panics":         {func(context.Context, <-chan struct{}) { panic("no") }, 0},
		"takes a second": {func(context.Context, <-chan struct{}) { time.Sleep(time.Second) }, time.Second},
	} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				over := make(chan struct{})
				w.Cleanup(func() {
					close(over)
					time.Sleep(3 * time.Second) // a call may go on for a while when Run has ended
				})
				var calls atomic.Int32
				a := w.start("a", 20, func(c *coordinator.Config) {
					c.Hint = func(ctx context.Context, others []dynamolease.Member) {
						if len(others) == 0 {
							w.Error("a hint to nobody")
						}
						calls.Add(1)
						test.hint(ctx, over)
					}
				})
				b := w.start("b", 20)
				w.settle(20, a, b)
				a.path.Reset()
				rounds := a.State().Rounds
				c := w.start("c", 20)
				w.settle(20, a, b, c)
				c.stop()
				w.settle(20, a, b)
				began := time.Now()
				w.always(5*ttl, "healthy and in balance", func() bool {
					return a.Health() == nil && len(a.State().Members) == 2 && w.balanced(20, a, b)
				})
				took := time.Since(began)
				if got, want := a.State().Rounds-rounds, int64(took/round); got < want {
					w.Errorf("%d rounds, want %d", got, want)
				}
				if got, want := a.path.Count("UpdateItem"), int(took/round); got < want {
					w.Errorf("%d writes, want %d heartbeats", got, want)
				}
				began = time.Now()
				a.stop()
				if took := time.Since(began); took > test.ends+500*time.Millisecond {
					w.Errorf("Run ended after %v", took)
				}
				if name == "panics" && calls.Load() < 3 || calls.Load() == 0 {
					w.Errorf("%d hints", calls.Load())
				}
				w.within(round+tick, "all worked", func() bool { return w.balanced(20, b) })
			})
		})
	}
}

// A node that stops says at its end, too, that what it had is free now. Handlers that need some time have
// been waited for until then.
func TestHintAtTheEndCO30(t *testing.T) {
	for name, late := range map[string]time.Duration{"soon": 700 * time.Millisecond, "later": 2300 * time.Millisecond} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				var f *paced
				f = inPace(w, wired(&f), handling(func(ctx context.Context, _ coordinator.Assignment) error {
					<-ctx.Done()
					time.Sleep(late)
					return context.Cause(ctx)
				}))
				var times []time.Duration
				for range testkit.Size(1, 5) {
					times = append(times, f.idle(false, f.take().stop)...)
				}
				f.want("a stop", times, 200*time.Millisecond, 500*time.Millisecond)
			})
		})
	}
}

// A hint comes when a heartbeat has said what was given up, also where another heartbeat was under way
// meanwhile: the others have to find what they look for.
func TestHintAfterHeartbeatCO30(t *testing.T) {
	t.Run("CO30", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			look := w.look()
			var said atomic.Int64 // how much the row of a has told at the time of a hint
			a := w.start("a", 2, func(c *coordinator.Config) {
				c.Hint = func(ctx context.Context, _ []dynamolease.Member) {
					members, err := look.Members(ctx, w.service)
					if err != nil {
						w.Error(err)
					}
					for _, m := range members {
						if m.Node == "a" {
							said.Store(m.Signals)
						}
					}
				}
			})
			w.settle(2, a)
			before := a.State().Members[0].Signals
			beats := make(chan struct{}, 100)
			stop := a.path.Every("UpdateItem", onRow("M#"+w.service, func(r *http.Request, send dynamotest.Send) (*http.Response, error) {
				response, err := send(r)
				beats <- struct{}{}
				time.Sleep(500 * time.Millisecond)
				return response, err
			}))
			<-beats
			b := w.start("b", 2)
			w.within(300*time.Millisecond, "two members", func() bool { return len(b.State().Members) == 2 })
			a.Look()
			<-beats
			stop()
			time.Sleep(600 * time.Millisecond)
			if said.Load() <= before {
				w.Errorf("at the latest hint the row of a had told of %d, as at the beginning", said.Load())
			}
		})
	})
}

// A look that fails at once is made again in the next round, or when there is a hint, however much is due.
func TestFailedLooksCO30(t *testing.T) {
	for name, test := range map[string]struct {
		look  time.Duration
		crash bool
	}{
		"nothing has changed":   {interval, false},
		"a session may be over": {interval, true},
		"with a quicker look":   {interval / 10, false},
	} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.start("a", 10, looking(test.look)), w.start("b", 10)
				w.settle(10, a, b)
				var looks atomic.Int32
				heal := a.path.Every("Query", func(r *http.Request, send dynamotest.Send) (*http.Response, error) {
					looks.Add(1)
					return dynamotest.AccessDenied()(r, send)
				})
				if test.crash {
					b.crash()
				}
				const rounds = 5
				time.Sleep(rounds * interval)
				if n := looks.Load(); n < rounds-1 || n > rounds+2 {
					w.Errorf("%d looks in %d rounds", n, rounds)
				}
				heal()
				w.within(ttl+grace+2*round, "all worked", func() bool { return w.busy() == 10 })
			})
		})
	}
}
