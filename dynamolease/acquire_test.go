package dynamolease_test

import (
	"testing"
	"time"
)

func TestAcquire(t *testing.T) {
	t.Run("LS1", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.node()
			lease := a.acquire(7, "a")
			if lease.Group != w.group || lease.Partition != 7 || lease.Owner != "a" || lease.Epoch <= 0 {
				w.Errorf("lease %+v", lease)
			}
			if least := time.Now().Add(ttl); lease.ExpiresAt.Before(least) {
				w.Errorf("expires at %v, want %v at least", lease.ExpiresAt, least)
			}
			if lease.Remaining() != ttl {
				w.Errorf("remaining %v, want %v", lease.Remaining(), ttl)
			}
		})
	})
}
