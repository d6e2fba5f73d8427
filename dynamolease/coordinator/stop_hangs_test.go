package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// CO25: however the store hangs while a node stops, and whatever its handlers and hooks do, Run returns within the drain timeout and 5
// seconds, and names what it has not released; and nothing where it has.
func TestStopWhileTheStoreHangsCO25(t *testing.T) {
	t.Parallel()
	hangs := map[string]func(n *node){
		"nothing":             func(*node) {},
		"all before":          func(n *node) { n.path.Every("", dynamotest.Hang()) },
		"answers":             func(n *node) { n.path.Every("", dynamotest.HangAfter()) },
		"writes":              func(n *node) { n.path.Every("UpdateItem", dynamotest.Hang()) },
		"writes of leases":    func(n *node) { n.path.Every("UpdateItem", onRow("L#", dynamotest.Hang())) },
		"writes of a session": func(n *node) { n.path.Every("UpdateItem", onRow("M#", dynamotest.Hang())) },
		"all refused":         func(n *node) { n.path.Every("", dynamotest.AccessDenied()) },
	}
	handlers := map[string]coordinator.Handler{
		"handlers return": wait,
		"handlers do not": func(ctx context.Context, a coordinator.Assignment) error {
			<-ctx.Done()
			time.Sleep(time.Hour)
			return nil
		},
	}
	for hang, begin := range hangs {
		for how, handler := range handlers {
			for _, drain := range []time.Duration{time.Second, 2 * ttl} {
				t.Run(fmt.Sprintf("CO25 %s, %s, %v", hang, how, drain), func(t *testing.T) {
					if hang != "all before" {
						testkit.Sample(t)
					}
					inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
						const partitions = 40
						w.lenient = true
						a := w.start("a", partitions, inMode(mode), handling(handler), grouped(func(g *coordinator.Group) { g.DrainTimeout = drain }),
							func(c *coordinator.Config) { c.Hooks.Lost = func(dynamolease.Lease, error) { time.Sleep(time.Hour) } })
						w.within(round, "worked", func() bool { return w.busy() == partitions })
						time.Sleep(2 * round)
						begin(a)
						began := time.Now()
						a.cancel()
						<-a.over
						if took := time.Since(began); took > drain+5*time.Second {
							w.Errorf("Run took %v", took)
						}
						w.checkUnreleased(a, partitions)
						time.Sleep(100 * time.Hour) // handlers and hooks
					})
				})
			}
		}
	}
}

// checkUnreleased compares what Run says with the table.
func (w *world) checkUnreleased(a *node, partitions int) {
	w.Helper()
	owners, err := w.look().Owners(context.Background(), w.group)
	if err != nil {
		w.Fatal(err)
	}
	names := fmt.Sprintf("%s: 0-%d", w.group, partitions-1)
	switch {
	case len(owners) == partitions && (a.err == nil || !strings.Contains(a.err.Error(), names)):
		w.Errorf("nothing is released, and Run says %v", a.err)
	case len(owners) > 0 && a.err == nil:
		w.Errorf("%d are not released, and Run says nothing", len(owners))
	case a.err != nil && !strings.Contains(a.err.Error(), "not released") && len(owners) > 0:
		w.Errorf("%d are not released, and Run says %v", len(owners), a.err)
	}
}

// CO25: a node that has not joined yet, or is in the middle of a round, stops at once.
func TestStopInTheMiddleCO25(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		for _, op := range []string{"", "UpdateItem", "Query", "GetItem"} {
			for after := range 4 {
				a := w.prepare("a", 40, inMode(mode), grouped(func(g *coordinator.Group) { g.DrainTimeout = time.Second }))
				a.path.Latency(tick)
				a.begin(context.Background())
				time.Sleep(time.Duration(after) * 3 * tick)
				a.path.Every(op, dynamotest.Hang())
				time.Sleep(2 * tick)
				began := time.Now()
				a.cancel()
				<-a.over
				if took := time.Since(began); took > 6*time.Second {
					w.Errorf("%q hangs after %v: Run took %v: %v", op, time.Duration(after)*3*tick, took, a.err)
				}
				time.Sleep(2 * ttl)
			}
		}
	})
}
