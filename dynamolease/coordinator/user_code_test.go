package coordinator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A handlerFunc is a log handler that calls f, in whichever of its methods.
type handlerFunc struct {
	slog.Handler
	enabled, handle func()
}

func (h handlerFunc) Enabled(context.Context, slog.Level) bool { h.enabled(); return true }
func (h handlerFunc) Handle(ctx context.Context, r slog.Record) error {
	if h.handle == nil {
		return h.Handler.Handle(ctx, r)
	}
	h.handle()
	return nil
}
func (h handlerFunc) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handlerFunc) WithGroup(string) slog.Handler      { return h }

// A talker is an error whose text is a user's code.
type talker struct{ f func() }

func (e talker) Error() string { e.f(); return "no" }

// A place is where a node calls a user's code; put has it call f there.
type codePlace struct {
	name string
	put  func(f func()) (setting, func(*dynamolease.Options))
}

func codePlaces() []codePlace {
	hook := func(set func(h *coordinator.Hooks, f func())) func(f func()) (setting, func(*dynamolease.Options)) {
		return func(f func()) (setting, func(*dynamolease.Options)) {
			return func(c *coordinator.Config) { set(&c.Hooks, f) }, nil
		}
	}
	logger := func(h func(f func()) handlerFunc) func(f func()) (setting, func(*dynamolease.Options)) {
		return func(f func()) (setting, func(*dynamolease.Options)) {
			l := slog.New(h(f))
			return func(c *coordinator.Config) { c.Logger = l }, func(o *dynamolease.Options) { o.Logger = l }
		}
	}
	return []codePlace{
		{"CO18 hook Round", hook(func(h *coordinator.Hooks, f func()) { h.Round = func(coordinator.State) { f() } })},
		{"CO18 hook Gained", hook(func(h *coordinator.Hooks, f func()) { h.Gained = func(dynamolease.Lease) { f() } })},
		{"CO18 hook Lost", hook(func(h *coordinator.Hooks, f func()) { h.Lost = func(dynamolease.Lease, error) { f() } })},
		{"CO18 hook Failed", hook(func(h *coordinator.Hooks, f func()) { h.Failed = func(dynamolease.Lease, int, error) { f() } })},
		{"CO18 hook Stuck", hook(func(h *coordinator.Hooks, f func()) { h.Stuck = func(dynamolease.Lease, time.Time) { f() } })},
		{"CO18 hook Renewed", hook(func(h *coordinator.Hooks, f func()) { h.Renewed = func(time.Duration, error) { f() } })},
		{"CO18 log handler, Handle", logger(func(f func()) handlerFunc { return handlerFunc{enabled: func() {}, handle: f} })},
		{"CO18 log handler, Enabled", logger(func(f func()) handlerFunc { return handlerFunc{enabled: f, handle: func() {}} })},
		{"CO18 OnRequest", func(f func()) (setting, func(*dynamolease.Options)) {
			return nil, func(o *dynamolease.Options) { o.OnRequest = func(context.Context, dynamolease.Request) { f() } }
		}},
		{"CO18 error of a handler", func(f func()) (setting, func(*dynamolease.Options)) {
			return func(c *coordinator.Config) {
				next := c.Groups[0].Handler
				c.Groups[0].Handler = func(ctx context.Context, a coordinator.Assignment) error {
					if err := next(ctx, a); a.Partition > 0 {
						return err
					}
					return talker{f}
				}
			}, nil
		}},
	}
}

// CO18: a user's code that never returns, that calls back, or that panics delays no heartbeat, no State, no Health and no work, and
// the node stops in time all the same. Whatever can be called is: a handler fails, the session is lost, a handler goes on after that.
func TestUserCode(t *testing.T) {
	t.Parallel()
	for _, p := range codePlaces() {
		t.Run(p.name, func(t *testing.T) {
			for name, misbehave := range map[string]func(w *world, a **node, end <-chan struct{}){
				"CO18 never returns": func(_ *world, _ **node, end <-chan struct{}) { <-end },
				"CO18 calls back":    func(_ *world, a **node, _ <-chan struct{}) { _, _ = (*a).State(), (*a).Health() },
				"CO18 panics":        func(*world, **node, <-chan struct{}) { panic("a user's code") },
			} {
				t.Run(name, func(t *testing.T) {
					if name != "CO18 never returns" {
						testkit.Sample(t)
					}
					inVirtualTime(t, func(w *world) {
						var a *node
						var calls atomic.Int64
						end := make(chan struct{})
						config, options := p.put(func() {
							calls.Add(1)
							misbehave(w, &a, end)
						})
						w.userCode(&a, end, config, options)
						if calls.Load() == 0 {
							w.Error("the code was never called")
						}
					})
				})
			}
		})
	}
}

func (w *world) userCode(a **node, end chan struct{}, config setting, options func(*dynamolease.Options)) {
	w.lenient = true
	settings := []setting{handling(failing), grouped(func(g *coordinator.Group) { g.DrainTimeout = ttl })}
	if config != nil {
		settings = append(settings, config)
	}
	n := w.prepareWith(options, "a", 3, settings...)
	*a = n
	n.begin(context.Background())
	well := func() bool {
		before := time.Now()
		state, _ := n.State(), n.Health()
		if time.Since(before) != 0 {
			w.Errorf("State and Health took %v", time.Since(before))
		}
		return state.Alive && state.Remaining > ttl-2*round
	}
	w.within(round, "worked", func() bool { return well() && len(w.works(n)) >= 2 })
	w.keeps(3*ttl, "well", well)
	heal := n.path.Every("", dynamotest.Hang())
	time.Sleep(ttl + grace)
	heal()
	w.within(3*round+grace, "worked again", func() bool { return well() && len(w.works(n)) >= 2 })
	w.keeps(2*ttl, "well again", well)
	began := time.Now()
	n.cancel()
	<-n.over
	if took := time.Since(began); took > ttl+5*time.Second {
		w.Errorf("Run took %v to return", took)
	}
	close(end)
	time.Sleep(10 * ttl)
}

// keeps is always, with fewer looks.
func (w *world) keeps(d time.Duration, what string, is func() bool) {
	w.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(interval / 10) {
		if !is() {
			w.Fatalf("not %s any more after %v", what, time.Since(began))
		}
	}
}

// failing is a handler that fails at once for partition 0, and goes on for a while after it was told to stop for partition 1.
func failing(ctx context.Context, a coordinator.Assignment) error {
	switch a.Partition {
	case 0:
		return errors.New("poison")
	case 1:
		<-ctx.Done()
		time.Sleep(2 * round)
	}
	return wait(ctx, a)
}

// CO18: what is left out is counted, and said once there is room.
func TestDroppedCO18(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		const partitions = 200
		release, told := make(chan struct{}), new(records)
		block := func() { <-release }
		a := w.start("a", partitions, handling(func(context.Context, coordinator.Assignment) error { return errors.New("poison") }),
			func(c *coordinator.Config) {
				c.Logger = slog.New(handlerFunc{Handler: told, enabled: block})
			})
		time.Sleep(70 * time.Second) // seven failures each
		if n := a.State().Dropped; n < partitions || n > 10*partitions {
			w.Errorf("%d were left out", n)
		}
		close(release)
		time.Sleep(time.Second)
		said := 0
		for _, r := range told.take() {
			if strings.Contains(r.Message, "records were left out") {
				said++
			}
		}
		if said != 1 {
			w.Errorf("the log says so %d times", said)
		}
	})
}

// CO18: many partitions that come or go at a time are one record with their count; a few have one each.
func TestNewsCO18(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		told := new(records)
		counted := func(n int, verb string) map[string]int {
			if n <= 20 {
				return map[string]int{"dynamolease: partition " + verb: n}
			}
			return map[string]int{"dynamolease: partitions " + verb: n}
		}
		for _, partitions := range []int{1, 20, 21, 200} {
			a := w.start("a", partitions, inMode(mode), func(c *coordinator.Config) { c.Logger = slog.New(told) })
			w.within(round, "worked", func() bool { return w.busy() == partitions })
			told.want(w, counted(partitions, "gained"))
			a.stop()
			told.want(w, counted(partitions, "handed over"))
		}
	})
}
