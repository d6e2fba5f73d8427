package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

var errPoison = errors.New("poison")

// A bad partition is 0 of three, while its handler does not do its work.
type bad struct {
	mu  sync.Mutex
	how func(ctx context.Context) error // nil when it is well
}

func (b *bad) handle(ctx context.Context, a coordinator.Assignment) error {
	b.mu.Lock()
	how := b.how
	b.mu.Unlock()
	if a.Partition == 0 && how != nil {
		return how(ctx)
	}
	return wait(ctx, a)
}

func (b *bad) set(how func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.how = how
}

// idle returns partition 0, if the group of a node lists it, and checks that it lists no other, and what is free.
func (n *node) idle(free int) coordinator.Partition {
	n.w.Helper()
	g := n.State().Groups[0]
	if g.Free != free || len(g.Idle) > 1 || len(g.Idle) == 1 && g.Idle[0].Number != 0 {
		n.w.Errorf("%s: free %d (want %d), idle %+v", n.name, g.Free, free, g.Idle)
	}
	if len(g.Idle) == 0 {
		return coordinator.Partition{}
	}
	return g.Idle[0]
}

// within2 waits for two rounds, and for the store's doubt where that is what is waited for.
const within2 = 2 * round

// CO19: a partition that no node may take, or can take, is listed on every node, with since when, until that is over.
func TestUnownedCO19(t *testing.T) {
	exclude := grouped(func(g *coordinator.Group) { g.Exclude = []int{0} })
	for _, c := range []struct {
		name     string
		settings []setting
		begin    func(w *world)
		end      func(w *world) // what makes it well; nil for a node that takes everything
		want     coordinator.Reason
	}{
		{"CO19 excluded by all", []setting{exclude}, func(*world) {}, nil, coordinator.Excluded},
		{"CO19 malformed", nil, func(w *world) { w.spoil("L#"+w.group, fmt.Sprintf("P#%010d", 0)) }, func(w *world) { w.deleteRow(0) }, coordinator.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				c.begin(w)
				began := time.Now()
				settings := append(slices.Clone(c.settings), inMode(mode))
				nodes := []*node{w.start("a", 3, settings...), w.start("b", 3, settings...)}
				w.within(2*within2, "worked but for one", func() bool { return w.busy() == 2 })
				time.Sleep(2 * within2) // what others have taken since is known with the next look at the owners
				for range testkit.Size(6, 20) {
					for _, n := range nodes {
						p := n.idle(1)
						if p.Reason != c.want || p.Since.Before(began) || p.Since.After(began.Add(within2)) || (p.Err != nil) != (c.want == coordinator.Malformed) {
							w.Errorf("%s: %+v, began %v", n.name, p, began)
						}
						if err := n.Health(); err != nil {
							w.Errorf("%s is not well: %v", n.name, err)
						}
					}
					time.Sleep(round)
				}
				if c.end == nil {
					nodes = append(nodes, w.start("c", 3, inMode(mode)))
				} else {
					c.end(w)
				}
				w.within(40*round, "worked", func() bool { return w.busy() == 3 })
				time.Sleep(40 * round) // nobody signals that it was taken
				for _, n := range nodes {
					if p := n.idle(0); p.Reason != "" {
						w.Errorf("%s: %+v stays", n.name, p)
					}
				}
			})
		})
	}
}

// CO19: partitions whose nodes are all drained have no owner, and each node says so.
func TestDrainedCO19(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 3)
		w.settle(3, a)
		if err := w.look().Drain(w.Context(), w.service, "a"); err != nil {
			w.Fatal(err)
		}
		w.within(3*round, "not worked", func() bool { return w.busy() == 0 })
		time.Sleep(within2)
		if g := a.State().Groups[0]; g.Free != 3 || len(g.Idle) != 3 || g.Idle[2].Reason != coordinator.Unowned || a.Health() != nil {
			w.Errorf("free %d, idle %+v, %v", g.Free, g.Idle, a.Health())
		}
		if err := w.look().Undrain(w.Context(), w.service, "a"); err != nil {
			w.Fatal(err)
		}
		w.within(3*round, "worked", func() bool { return w.busy() == 3 && a.State().Groups[0].Free == 0 })
	})
}

// CO19: a handler that fails is told by State, the hook, and after so many failures by Health, with group and partition, and no more
// once it works for a while.
func TestFailingCO19(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		for _, after := range testkit.Size([]int{0}, []int{0, 1, 3}) {
			var b bad
			var mu sync.Mutex
			var told []string
			b.set(func(context.Context) error { return errPoison })
			a := w.start("a", 3, inMode(mode), handling(b.handle), func(c *coordinator.Config) {
				c.UnhealthyAfter = after
				c.Hooks.Failed = func(l dynamolease.Lease, failures int, err error) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, fmt.Sprint(l.Partition, failures, errors.Is(err, errPoison)))
				}
			})
			threshold := after
			if after == 0 {
				threshold = 5
			}
			w.within(round, "failed", func() bool { return a.State().Groups[0].Free == 1 })
			began := time.Now()
			for failures := 1; failures < 7; failures++ {
				w.within(2*time.Minute, "failed again", func() bool { return a.idle(1).Failures == failures })
				p, err := a.idle(1), a.Health()
				if p.Reason != coordinator.Failing || !errors.Is(p.Err, errPoison) || p.Since.Before(began.Add(-2*tick)) || p.Since.After(began) {
					w.Errorf("%+v, began %v", p, began)
				}
				if (err != nil) != (failures >= threshold) {
					w.Errorf("after %d of %d failures: %v", failures, threshold, err)
				}
				if err != nil && (!errors.Is(err, errPoison) || !strings.Contains(err.Error(), w.group+"/0")) {
					w.Errorf("Health says %v", err)
				}
			}
			mu.Lock()
			for i, got := range told {
				if got != fmt.Sprint(0, i+1, true) {
					w.Errorf("told %q", told)
				}
			}
			if len(told) != 6 {
				w.Errorf("told %q", told)
			}
			mu.Unlock()
			b.set(nil)
			w.within(5*time.Minute, "well again", func() bool { return a.Health() == nil && a.State().Groups[0].Free == 0 })
			if a.idle(0).Reason != "" || w.busy() != 3 {
				w.Errorf("%+v, %d are worked", a.idle(0), w.busy())
			}
			a.stop()
		}
	})
}

// CO19: a handler that has returned nil is listed as done on its own node, and nowhere else, wherever the partition moves.
func TestDoneCO19(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		var b bad
		b.set(func(context.Context) error { return nil })
		nodes := []*node{w.start("a", 3, inMode(mode), handling(b.handle))}
		for _, name := range []string{"b", "c", ""} {
			w.within(6*within2, "shared", func() bool {
				for _, n := range nodes {
					if g := n.State().Groups[0]; len(g.Leases) != g.Share || g.HandingOff > 0 {
						return false
					}
				}
				return w.busy() == 2
			})
			time.Sleep(6 * round) // all have seen what is theirs
			done := 0
			for _, n := range nodes {
				g := n.State().Groups[0]
				owns := slices.ContainsFunc(g.Leases, func(l dynamolease.Lease) bool { return l.Partition == 0 })
				if p := n.idle(len(g.Idle)); owns != (p.Reason == coordinator.Done) || owns == p.Since.IsZero() || n.Health() != nil {
					w.Errorf("%s of %d nodes: owns it %v, %+v, %v", n.name, len(nodes), owns, p, n.Health())
				}
				done += len(g.Idle)
			}
			if done != 1 {
				w.Errorf("%d of %d nodes list it", done, len(nodes))
			}
			if name != "" {
				nodes = append(nodes, w.start(name, 3, inMode(mode), handling(b.handle)))
			}
		}
		for _, n := range nodes {
			n.stop()
			if g := n.State().Groups[0]; slices.ContainsFunc(g.Idle, func(p coordinator.Partition) bool { return p.Reason == coordinator.Done }) {
				w.Errorf("after the stop: %+v", g)
			}
		}
	})
}

// CO19: a handler that goes on after its lease was over is told by State, Health and the hook, within two rounds, and no more once it
// has returned. The partition is free as long as no other node works it.
func TestStuckCO19(t *testing.T) {
	for _, c := range []struct {
		name  string
		over  func(w *world, a *node) // ends the lease of partition 0
		cause error
	}{
		{"CO19 lost", func(_ *world, a *node) {
			heal := a.path.Every("", dynamotest.Hang())
			time.Sleep(ttl + grace)
			heal()
		}, coordinator.ErrLost},
		{"CO19 given away", func(w *world, a *node) {
			if err := w.look().Drain(w.Context(), w.service, "a"); err != nil {
				w.Fatal(err)
			}
			time.Sleep(2 * round)
			if err := w.look().Undrain(w.Context(), w.service, "a"); err != nil {
				w.Fatal(err)
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				w.lenient = true
				var b bad
				var told []dynamolease.Lease
				release := make(chan struct{})
				b.set(func(context.Context) error {
					<-release
					return nil
				})
				a := w.start("a", 3, inMode(mode), handling(b.handle), grouped(func(g *coordinator.Group) { g.DrainTimeout = tick }), func(c *coordinator.Config) {
					c.Hooks.Stuck = func(l dynamolease.Lease, _ time.Time) { told = append(told, l) }
				})
				w.within(round, "all have begun", func() bool { return w.busy() == 3 })
				began := time.Now()
				c.over(w, a)
				w.within(within2+round, "stuck", func() bool {
					g := a.State().Groups[0]
					return g.Free == 1 && len(g.Idle) == 1 && g.Idle[0].Reason == coordinator.Stuck
				})
				time.Sleep(3 * round)
				p, err := a.idle(1), a.Health()
				if p.Reason != coordinator.Stuck || p.Since.Before(began) || p.Since.After(began.Add(ttl+2*round)) || c.cause != nil && !errors.Is(p.Err, c.cause) {
					w.Errorf("%+v", p)
				}
				if err == nil || !strings.Contains(err.Error(), w.group+"/0") {
					w.Errorf("Health says %v", err)
				}
				synctest.Wait()
				if len(told) != 1 || told[0].Partition != 0 {
					w.Errorf("told of %+v", told)
				}
				other := w.start("b", 3, inMode(mode))
				w.within(within2+round, "worked by the other", func() bool { return slices.Contains(w.works(other), 0) })
				w.within(within2, "listed, and not free", func() bool { g := a.State().Groups[0]; return len(g.Idle) == 1 && g.Free == 0 })
				b.set(nil)
				close(release)
				w.within(within2, "well", func() bool { return a.Health() == nil && len(a.State().Groups[0].Idle) == 0 })
				synctest.Wait()
				if len(told) != 1 {
					w.Errorf("told of %+v", told)
				}
			})
		})
	}
}
