package dynamolease_test

import (
	"strings"
	"testing"
)

// A session is told to give up a lease of a group of any name.
func TestRevokeOfAnyName(t *testing.T) {
	for name, group := range map[string]string{
		"spaces": " late  orders ", "digits": "7 7 7", "like an order": "5 P#0000000001 L#x", "percent": "100%20 %", "longest": strings.Repeat("ü ", 85),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.group = group
				holder, operator := w.node(), w.node()
				holder.open("a", ttl)
				lease := holder.take(1)
				if _, done := operator.revoke(1, lease.Epoch); done {
					w.Fatal("done at once")
				}
				holder.beat()
				if !lease.Revoked() {
					w.Error("the session does not know")
				}
				if released, err := holder.session.Release(w.Context(), w.group, 1); !released || err != nil {
					w.Errorf("released %v, %v", released, err)
				}
				if _, done := operator.revoke(1, lease.Epoch); !done {
					w.Error("not done")
				}
			})
		})
	}
}
