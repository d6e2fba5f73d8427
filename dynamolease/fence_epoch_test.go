package dynamolease_test

import (
	"errors"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A lease that is over is fenced off by its epoch alone: also when its own owner has the partition again.
func TestTransactFencedC37(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		former := a.acquire(1, "a")
		a.release(1, "a")
		a.lease = a.acquire(1, "a")
		for name, work := range map[string]func() error{
			"transact":   func() error { return a.Transact(w.Context(), former, nil, w.increment("counter")) },
			"checkpoint": func() error { return a.Checkpoint(w.Context(), former, []byte("former")) },
		} {
			var fenced *dynamolease.FencedError
			if err := work(); !errors.As(err, &fenced) || fenced.Lease.Epoch != former.Epoch || fenced.Holder.Epoch != a.lease.Epoch {
				w.Errorf("%s: %v", name, err)
			}
		}
		w.wantCount("")
		if left := a.acquire(1, "a").Checkpoint; left != nil {
			w.Errorf("the former lease left the checkpoint %q", left)
		}
	})
}
