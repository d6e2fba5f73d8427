package coordinator_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	paceTTL        = 10 * time.Second
	paceNodes      = 10
	pacePartitions = 200
)

// A paced is a fleet of ten, of which the times of a change are measured.
type paced struct {
	*world
	nodes []*node
	born  int
	with  []setting

	byName map[string]*node // under the watch's mutex
	joins  func(*node)      // gets each node before it begins; nil for nothing
}

// inPace starts a fleet of ten with a ttl of ten seconds, and waits until it rests.
func inPace(w *world, settings ...setting) *paced {
	w.contend()
	f := &paced{world: w, byName: make(map[string]*node), with: append(settings, func(c *coordinator.Config) {
		c.TTL, c.Interval = paceTTL, 0
	})}
	f.start(paceNodes)
	f.rest()
	return f
}

func (f *paced) start(n int) {
	var started []*node
	for range n {
		node := f.prepare(fmt.Sprintf("n%02d", f.born), pacePartitions, f.with...)
		node.path.Latency(5 * time.Millisecond)
		f.born++
		f.mu.Lock()
		f.byName[node.name] = node
		f.mu.Unlock()
		if f.joins != nil {
			f.joins(node)
		}
		started = append(started, node)
	}
	f.nodes = append(f.nodes, started...)
	for _, node := range started {
		node.begin(context.Background())
	}
}

// rest waits until all is worked and shared fairly, and then for some rounds, by another time each.
func (f *paced) rest() {
	f.Helper()
	f.within(paceTTL*3, "in balance", func() bool { return f.balanced(pacePartitions, f.nodes...) })
	time.Sleep(5*paceTTL/3 + time.Duration(f.born)*137*time.Millisecond)
}

// take takes the oldest node out of the fleet.
func (f *paced) take() *node {
	oldest := f.nodes[0]
	f.nodes = slices.Clone(f.nodes[1:])
	return oldest
}

// idle makes a change, and returns for how long each partition that moved was worked by nobody,
// or since when, if that is not zero, the quickest first.
func (f *paced) idle(since bool, change func()) (times []time.Duration) {
	began := time.Now()
	change()
	f.rest()
	for partition := range pacePartitions {
		runs := f.history(partition)
		for i := 1; i < len(runs); i++ {
			switch {
			case !runs[i].began.After(began):
			case since:
				times = append(times, runs[i].began.Sub(began))
			default:
				times = append(times, runs[i].began.Sub(runs[i-1].ended))
			}
		}
	}
	slices.Sort(times)
	return times
}

func median(times []time.Duration) time.Duration { return times[len(times)/2] }

// want compares the times of several changes with what is promised.
func (f *paced) want(name string, times []time.Duration, middle, slowest time.Duration) {
	f.Helper()
	slices.Sort(times)
	f.Logf("%s: %d partitions, median %v, slowest %v", name, len(times), median(times).Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	if median(times) > middle || slowest > 0 && times[len(times)-1] > slowest {
		f.Errorf("%s: median %v, at most %v are promised; slowest %v, %v are", name, median(times), middle, times[len(times)-1], slowest)
	}
}

func looking(every time.Duration) setting {
	return func(c *coordinator.Config) { c.Look = every }
}

// A partition that moves in order between nodes that know of it is idle for two seconds at the most,
// in the median; after a stop for half a round, and with a quicker look for a second.
func TestMovesInOrderCO24(t *testing.T) {
	t.Run("CO24/join", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			f := inPace(w)
			var times []time.Duration
			for range 3 {
				times = append(times, f.idle(false, func() { f.start(1) })...)
			}
			f.want("a join", times, 2*time.Second, 0)
		})
	})
	t.Run("CO24/drain", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			f := inPace(w)
			times := f.idle(false, func() {
				if err := w.look().Drain(w.Context(), w.service, f.take().name); err != nil {
					w.Fatal(err)
				}
			})
			f.want("a drain", times, 2*time.Second, 0)
		})
	})
	for name, test := range map[string]struct {
		look, middle time.Duration
	}{
		"stop":                      {paceTTL / 3, paceTTL / 5},
		"stop, with a quicker look": {time.Second, time.Second},
	} {
		t.Run("CO24/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				f := inPace(w, looking(test.look))
				var times []time.Duration
				for range testkit.Size(3, 5) {
					times = append(times, f.idle(false, f.take().stop)...)
				}
				f.want("a stop", times, test.middle, 0)
			})
		})
	}
}

// A crash is noticed when it is certain.
func TestCrashCO28(t *testing.T) {
	for name, test := range map[string]struct {
		look            time.Duration
		hints           bool
		middle, slowest time.Duration
	}{
		"as it is by default":  {paceTTL / 3, false, 10_700 * time.Millisecond, 12_500 * time.Millisecond},
		"with a quicker look":  {time.Second, false, 9_500 * time.Millisecond, 11_500 * time.Millisecond},
		"with hints and looks": {time.Second, true, 10_500 * time.Millisecond, 10_500 * time.Millisecond},
	} {
		t.Run("CO28/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				settings := []setting{looking(test.look)}
				var f *paced
				if test.hints {
					settings = append(settings, wired(&f))
				}
				f = inPace(w, settings...)
				var times []time.Duration
				const crashes = 3 // at as many moments between two heartbeats
				for i := range crashes {
					victim := f.take()
					f.awaitHeartbeat(victim)
					time.Sleep(time.Duration(2*i+1) * paceTTL / 3 / (2 * crashes))
					times = append(times, f.idle(true, victim.crash)...)
					f.start(1)
					f.rest()
				}
				f.want("a crash", times, test.middle, test.slowest)
			})
		})
	}
}

// awaitHeartbeat waits until the next heartbeat of a node has been answered.
func (f *paced) awaitHeartbeat(n *node) {
	beats := make(chan struct{})
	var once sync.Once
	stop := n.path.Every("UpdateItem", onRow("M#"+f.service, dynamotest.Around(nil, func() { once.Do(func() { close(beats) }) })))
	<-beats
	stop()
}

// A node looks at the moment at which a death is certain, and not in the next round.
func TestCertainDeathCO28(t *testing.T) {
	t.Run("CO28", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.start("a", 10)
			for i := range 4 {
				b := w.start(fmt.Sprint("b", i), 10)
				w.settle(10, a, b)
				beats := make(chan struct{}, 1)
				stop := b.path.Every("UpdateItem", onRow("M#"+w.service, dynamotest.Around(nil, func() { beats <- struct{}{} })))
				<-beats
				stop()
				a.Look() // sees that heartbeat
				time.Sleep(200 * time.Millisecond)
				b.crash()
				w.within(ttl+300*time.Millisecond, "taken over", func() bool { return len(w.works(a)) == 10 })
			}
		})
	})
}

// What a node has given up is in a heartbeat a second later.
func TestHeartbeatOutOfTurnCO24(t *testing.T) {
	t.Run("CO24", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.start("a", 10), w.start("b", 10)
			w.settle(10, a, b)
			partition := w.works(a)[0]
			runs := w.history(partition)
			before := w.signals()
			if _, _, err := w.look().Revoke(w.Context(), w.group, partition, runs[len(runs)-1].lease.Epoch); err != nil {
				w.Fatal(err)
			}
			w.within(round+tick, "given up", func() bool { return !w.history(partition)[len(runs)-1].ended.IsZero() })
			time.Sleep(1100 * time.Millisecond)
			if after := w.signals(); after <= before {
				w.Errorf("%d signals, and then %d", before, after)
			}
		})
	})
}

// Nodes that start together share at once, also where some are half a second later than others.
func TestColdStartCO29(t *testing.T) {
	for name, apart := range map[string]time.Duration{"": 0, ", one after the other": 50 * time.Millisecond} {
		t.Run("CO29/CO21"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				f := &paced{world: w, byName: make(map[string]*node), with: []setting{func(c *coordinator.Config) { c.TTL, c.Interval = paceTTL, 0 }}}
				w.contend()
				began := time.Now()
				for range paceNodes {
					f.start(1)
					time.Sleep(apart)
				}
				w.within(2*paceTTL/3, "all worked", func() bool { return w.busy() == pacePartitions })
				w.Logf("all worked after %v", time.Since(began))
				f.rest()
				if twice := w.moves() - pacePartitions; twice > pacePartitions/20 {
					w.Errorf("%d of %d handlers started twice", twice, pacePartitions)
				}
			})
		})
	}
}

// Hints take the place of the wait for the next look.
func TestHintsCO30(t *testing.T) {
	t.Run("CO30", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			var f *paced
			f = inPace(w, wired(&f))
			const promised = 200 * time.Millisecond
			var stops, joins, deployment []time.Duration
			for range 3 {
				stops = append(stops, f.idle(false, f.take().stop)...)
				joins = append(joins, f.idle(false, func() { f.start(1) })...)
			}
			for range 3 {
				deployment = append(deployment, f.idle(false, func() {
					f.start(1)
					time.Sleep(paceTTL / 3)
					f.take().stop()
				})...)
			}
			f.want("a stop", stops, promised, 0)
			f.want("a join", joins, promised, 0)
			f.want("a deployment", deployment, promised, 0)
		})
	})
}

// A change costs each node three looks at the owners at the most, and as few partitions move as have to.
// A few more of both do where all eventual readings are a second late.
func TestLooksCO21(t *testing.T) {
	for name, test := range map[string]struct {
		lag        time.Duration
		most, more int // looks of a node, and moves beyond those that have to be
	}{
		"": {0, 3, 1}, ", with replicas that lag": {time.Second, 5, 5},
	} {
		t.Run("CO21"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				f := inPace(w)
				for _, n := range f.nodes {
					if test.lag > 0 {
						n.path.Every("", newReplica(test.lag).fault)
					}
				}
				f.looks("a join", test.most, test.more, func() { f.start(1) })
				f.looks("a stop", test.most, test.more, func() { f.take().stop() })
				f.looks("a crash", test.most, test.more, func() { f.take().crash() })
				f.looks("a drain", test.most, test.more, func() {
					if err := w.look().Drain(w.Context(), w.service, f.take().name); err != nil {
						w.Fatal(err)
					}
				})
			})
		})
	}
}

// looks makes a change, and counts how often each node reads the owners because of it.
func (f *paced) looks(name string, most, more int, change func()) {
	f.Helper()
	var mu sync.Mutex
	counts := make(map[string]int)
	var stop []func()
	count := func(n *node) {
		// Leases begin at "P"; the check of permissions reads nothing.
		stop = append(stop, n.path.Every("Query", onRow(`P"`, func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			mu.Lock()
			counts[n.name]++
			mu.Unlock()
			return send(req)
		})))
	}
	for _, n := range f.nodes {
		count(n)
	}
	f.joins = count
	before, shares := f.moves(), f.nodes
	change()
	f.rest()
	time.Sleep(10 * paceTTL / 3)
	for _, stop := range stop {
		stop()
	}
	for node, n := range counts {
		if n > most {
			f.Errorf("%s: %s has read the owners %d times", name, node, n)
		}
	}
	moved, least := f.moves()-before, pacePartitions/len(f.nodes)
	if len(f.nodes) < len(shares) {
		least = pacePartitions / len(shares)
	}
	f.Logf("%s: %d moves; looks: %v", name, moved, counts)
	if moved > least+more {
		f.Errorf("%s: %d moves, %d would do", name, moved, least)
	}
}
