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
				owners := 0
				defer membersRead(w, a, func() {
					mu.Lock()
					defer mu.Unlock()
					looks = append(looks, time.Now())
				})()
				defer a.path.Every("Query", onRow("L#"+w.group, dynamotest.Around(func() { owners++ }, nil)))()
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
				if resyncs := 2; owners > resyncs {
					w.Errorf("%d reads of the owners", owners)
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
				random := rand.New(rand.NewPCG(seed, 0))
				c := &crew{world: w, partitions: 60}
				wire := &wire{fate: func() (int, time.Duration) { return fate(random) }, find: func(address string) (*node, bool) {
					w.mu.Lock()
					defer w.mu.Unlock()
					for _, n := range c.nodes {
						if n.name+":1" == address {
							return n, n.dead
						}
					}
					return nil, false
				}}
				w.Cleanup(wire.late.Wait)
				w.contend()
				join := func(n int) {
					for range n {
						node := w.prepare(fmt.Sprintf("n%02d", c.born), c.partitions, wire.sending())
						node.path.Latency(fleetLatency)
						c.born++
						w.mu.Lock()
						c.nodes = append(c.nodes, node)
						w.mu.Unlock()
						node.begin(context.Background())
					}
				}
				leave := func() *node {
					w.mu.Lock()
					defer w.mu.Unlock()
					i := random.IntN(len(c.nodes))
					n := c.nodes[i]
					c.nodes = slices.Delete(slices.Clone(c.nodes), i, i+1)
					return n
				}
				join(6)
				w.settle(c.partitions, c.nodes...)
				changes := []func(){func() { join(1) }, func() { leave().stop() }, func() { leave().crash() }}
				for i := range testkit.Size(6, 18) {
					if i%len(changes) == 0 {
						random.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
					}
					c.change(fmt.Sprint("change ", i), ttl+grace+2*round, changes[i%len(changes)])
					time.Sleep(3*round + time.Duration(random.Int64N(int64(round))))
				}
				if wire.count() == 0 {
					w.Error("no hints were sent")
				}
			})
		})
	}
}

// Whatever Config.Hint does, the node works on: it sends heartbeats, looks, plans, answers, and stops.
func TestHintsThatHangCO30(t *testing.T) {
	over := make(map[string]chan struct{})
	for name, test := range map[string]struct {
		hint func(ctx context.Context, over <-chan struct{})
		ends time.Duration // by how much Run may end later than without hints
	}{
		"never returns":  {func(_ context.Context, over <-chan struct{}) { <-over }, time.Second},
		"ends with Run":  {func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() }, time.Second},
		"panics":         {func(context.Context, <-chan struct{}) { panic("no") }, 0},
		"takes a second": {func(context.Context, <-chan struct{}) { time.Sleep(time.Second) }, time.Second},
	} {
		over[name] = make(chan struct{})
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				over := make(chan struct{})
				w.Cleanup(func() { close(over) })
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
	for name, late := range map[string]time.Duration{"in a moment": 100 * time.Millisecond, "soon": 700 * time.Millisecond, "later": 2300 * time.Millisecond} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				var f *paced
				f = inPace(w, wired(&f), handling(func(ctx context.Context, _ coordinator.Assignment) error {
					<-ctx.Done()
					time.Sleep(late)
					return context.Cause(ctx)
				}))
				var times []time.Duration
				for range 3 {
					times = append(times, f.idle(false, f.take().stop)...)
				}
				f.want("a stop", times, 200*time.Millisecond, 500*time.Millisecond)
			})
		})
	}
}

// A look that fails at once is made again in the next round, or when there is a hint, however much is due.
func TestFailedLooksCO30(t *testing.T) {
	for name, change := range map[string]func(w *world, other *node){
		"nothing has changed":   func(*world, *node) {},
		"a session may be over": func(_ *world, other *node) { other.crash() },
	} {
		t.Run("CO30/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.start("a", 10), w.start("b", 10)
				w.settle(10, a, b)
				looks := 0
				heal := a.path.Every("Query", func(r *http.Request, send dynamotest.Send) (*http.Response, error) {
					looks++
					return dynamotest.AccessDenied()(r, send)
				})
				change(w, b)
				const rounds = 5
				time.Sleep(rounds * interval)
				if looks < rounds-1 || looks > rounds+2 {
					w.Errorf("%d looks in %d rounds", looks, rounds)
				}
				heal()
				w.within(ttl+grace+2*round, "all worked", func() bool { return w.busy() == 10 })
			})
		})
	}
}
