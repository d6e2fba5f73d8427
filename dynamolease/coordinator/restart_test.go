package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A handler that is called again goes on from the checkpoint that it has left, not from where it
// began: also when it could not tell whether it had left one.
func TestRestartGoesOnFromTheCheckpoint(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]dynamotest.Fault{
		"answered":                nil,
		"applied, never answered": dynamotest.HangAfter(),
		"never sent":              dynamotest.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				var mu sync.Mutex
				var seen []string
				var n *node
				handler := func(ctx context.Context, lease coordinator.Assignment) error {
					mu.Lock()
					seen = append(seen, string(lease.Checkpoint))
					calls := len(seen)
					mu.Unlock() // before the requests: a wait for a mutex stops the bubble's clock
					if calls == 4 {
						return nil
					}
					if fault != nil {
						n.path.Next("UpdateItem", fault)
					}
					call, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					return errors.Join(n.store.Checkpoint(call, lease.Lease, fmt.Append(nil, calls)), errors.New("failed on purpose"))
				}
				n = w.prepare("a", 1, inMode(mode), handling(handler))
				n.begin(context.Background())
				w.within(time.Minute, "called four times", func() bool {
					mu.Lock()
					defer mu.Unlock()
					return len(seen) == 4
				})
				want := []string{"", "1", "2", "3"}
				if name == "never sent" {
					want = []string{"", "", "", ""}
				}
				mu.Lock()
				defer mu.Unlock()
				if !slices.Equal(seen, want) {
					w.Errorf("checkpoints %q, want %q", seen, want)
				}
			})
		})
	}
}

// A handler's context has the values of Run's.
func TestHandlersContextHasTheValuesOfRuns(t *testing.T) {
	type valueKey struct{}
	inVirtualTime(t, func(w *world) {
		got := make(chan any, 1)
		n := w.prepare("a", 1, handling(func(ctx context.Context, _ coordinator.Assignment) error {
			got <- ctx.Value(valueKey{})
			return nil
		}))
		n.begin(context.WithValue(context.Background(), valueKey{}, "there"))
		if value := <-got; value != "there" {
			w.Errorf("value %v", value)
		}
	})
}
