package dynamoleaseotel_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Two nodes share four partitions; one is cut off for longer than the ttl, and stops in the end.
func TestCoordinator(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node("a"), w.node("b")
		a.run(4)
		rounds(3)
		alone := a.collect()
		a.want("alone", alone, map[string]float64{
			"leases.gained orders shop": 4, "leases.held orders shop": 4, "leases.share orders shop": 4, "leases.free orders shop": 0,
			"members shop": 1, "healthy shop": 1, "leases.lost revoked orders shop": 0,
		})
		if left := alone.values["session.remaining shop"]; left <= ttl.Seconds()/2 || left > ttl.Seconds() {
			w.Errorf("%v s of the session remain", left)
		}

		b.run(4)
		rounds(4)
		for _, n := range []*node{a, b} {
			n.want("together", n.collect(), map[string]float64{
				"leases.held orders shop": 2, "leases.share orders shop": 2, "leases.free orders shop": 0, "members shop": 2, "healthy shop": 1,
			})
		}
		a.want("together", a.collect(), map[string]float64{"leases.lost revoked orders shop": 2, "leases.gained orders shop": 4})
		b.want("together", b.collect(), map[string]float64{"leases.lost revoked orders shop": 0, "leases.gained orders shop": 2})

		heal := a.path.Every("", dynamotest.Hang())
		time.Sleep(2 * ttl)
		a.want("cut off", a.collect(), map[string]float64{
			"leases.lost lost orders shop": 2, "leases.held orders shop": 0, "healthy shop": 0, "session.remaining shop": 0,
			"members shop": none, "leases.share orders shop": none, "leases.free orders shop": none,
		})
		if f := a.collect(); f.counts["renewal.duration shop false"] == 0 || f.values["renewal.duration shop false"] < 1 {
			w.Errorf("%d renewals have failed, within %v s", f.counts["renewal.duration shop false"], f.values["renewal.duration shop false"])
		}
		b.want("alone", b.collect(), map[string]float64{"leases.held orders shop": 4, "leases.gained orders shop": 4})
		heal()
		rounds(6)

		b.stop()
		b.want("stopped", b.collect(), map[string]float64{
			"leases.lost shutdown orders shop": 2, "leases.lost revoked orders shop": 2, "leases.held orders shop": 0, "healthy shop": 0, "session.remaining shop": 0,
			"members shop": none,
		})
		rounds(3)
		last := a.collect()
		a.want("the last", last, map[string]float64{"leases.held orders shop": 4, "leases.gained orders shop": 8, "members shop": 1, "healthy shop": 1})
		if passed := last.counts["round.duration shop"]; passed < 15 || float64(passed) != last.values["rounds shop"] || last.counts["renewal.duration shop true"] < 10 {
			w.Errorf("%d durations of %v rounds, %d heartbeats", passed, last.values["rounds shop"], last.counts["renewal.duration shop true"])
		}
	})
}

// The hooks of a user's own are told as well, of what is measured.
func TestHooksOfTheUser(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		var rounded, renewed, gained, lost, planning, renewing atomic.Int64
		a := w.node("a")
		a.path.Latency(50 * time.Millisecond)
		a.run(3, func(c *coordinator.Config) {
			c.Hooks = coordinator.Hooks{
				Round: func(s coordinator.State) {
					rounded.Add(1)
					planning.Add(int64(s.LastRound))
				},
				Renewed: func(took time.Duration, _ error) {
					renewed.Add(1)
					renewing.Add(int64(took))
				},
				Gained: func(dynamolease.Lease) { gained.Add(1) },
				Lost:   func(dynamolease.Lease, error) { lost.Add(1) },
			}
		})
		rounds(5)
		a.stop()
		f := a.collect()
		a.want("stopped", f, map[string]float64{
			"rounds shop": float64(rounded.Load()), "leases.gained orders shop": float64(gained.Load()), "leases.lost shutdown orders shop": float64(lost.Load()),
			"round.duration shop": time.Duration(planning.Load()).Seconds(), "renewal.duration shop true": time.Duration(renewing.Load()).Seconds(),
		})
		if planning.Load() == 0 || renewing.Load() == 0 {
			w.Error("neither rounds nor renewals took any time")
		}
		if renewed.Load() != f.counts["renewal.duration shop true"] || renewed.Load() < 3 || gained.Load() != 3 || lost.Load() != 3 {
			w.Errorf("told of %d renewals (%d measured), %d gained, %d lost", renewed.Load(), f.counts["renewal.duration shop true"], gained.Load(), lost.Load())
		}
	})
}

// While a handler goes on with what is to be handed over, the node holds more than its share.
func TestHandOverUnderWay(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node("a"), w.node("b")
		finish := make(chan struct{})
		a.run(4, func(c *coordinator.Config) {
			c.Groups[0].DrainTimeout = time.Hour
			c.Groups[0].Handler = func(context.Context, coordinator.Assignment) error {
				<-finish
				return nil
			}
		})
		rounds(3)
		b.run(4)
		rounds(4)
		a.want("under way", a.collect(), map[string]float64{"leases.held orders shop": 4, "leases.share orders shop": 2, "leases.lost revoked orders shop": 2})
		b.want("under way", b.collect(), map[string]float64{"leases.held orders shop": 0, "leases.share orders shop": 2, "leases.gained orders shop": 0})
		close(finish)
		rounds(3)
		a.want("over", a.collect(), map[string]float64{"leases.held orders shop": 2, "leases.share orders shop": 2})
		b.want("over", b.collect(), map[string]float64{"leases.held orders shop": 2, "leases.gained orders shop": 2})
	})
}

// CO19: partitions that are not worked are counted by reason, on the nodes that can know.
func TestIdleCO19(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node("a"), w.node("b")
		failures, release := new(atomic.Int64), make(chan struct{})
		handlers := func(c *coordinator.Config) {
			c.Groups[0].Exclude = []int{0}
			c.Groups[0].Handler = func(ctx context.Context, assignment coordinator.Assignment) error {
				switch assignment.Partition {
				case 1:
					failures.Add(1)
					return errors.New("poison")
				case 2:
					return nil
				case 3:
					<-release
				}
				return untilTold(ctx, assignment)
			}
		}
		a.run(5, handlers)
		rounds(10)
		idle := func(unowned, excluded, failing, stuck, done float64) map[string]float64 {
			return map[string]float64{
				"partitions.idle orders unowned shop": unowned, "partitions.idle orders excluded shop": excluded, "partitions.idle orders malformed shop": 0,
				"partitions.idle orders failing shop": failing, "partitions.idle orders stuck shop": stuck, "partitions.idle orders done shop": done,
				"leases.free orders shop": unowned + excluded + failing + stuck + done,
			}
		}
		f := a.collect()
		a.want("alone", f, idle(0, 1, 1, 0, 1))
		a.want("alone", f, map[string]float64{
			"handler.failures orders shop": float64(failures.Load()), "handler.stuck orders shop": 0, "healthy shop": 0, "calls.dropped shop": 0,
		})
		heal := a.path.Every("", dynamotest.Hang())
		time.Sleep(2 * ttl)
		a.want("cut off", a.collect(), map[string]float64{
			"partitions.idle orders unowned shop": none, "partitions.idle orders excluded shop": none, "partitions.idle orders stuck shop": 1, "leases.free orders shop": none,
		})
		heal()
		rounds(6)
		f = a.collect()
		a.want("there again", f, idle(0, 1, 1, 1, 1))
		a.want("there again", f, map[string]float64{"handler.stuck orders shop": 1, "handler.failures orders shop": float64(failures.Load())})
		close(release)
		b.run(5, handlers)
		rounds(6)
		b.want("the other", b.collect(), map[string]float64{"partitions.idle orders excluded shop": 1, "partitions.idle orders stuck shop": 0})
	})
}
