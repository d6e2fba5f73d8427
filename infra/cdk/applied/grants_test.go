package applied_test

import (
	"testing"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// A run does everything that a grant is for, under a policy, and returns the first fault. Each run
// makes its own table.
type run func(t *testing.T, w *world, policy iamproxy.Policy) error

// purposes are the runs that the grants are for, by the names of their roles.
var purposes = map[string]run{
	"Holder": runFleet, "HolderOfAll": runFleet, "Boot": runBoots,
	"Reader": runReader, "ReaderOfAll": runReader, "Verifier": runVerifier,
}

func TestGrants(t *testing.T) {
	for role, run := range purposes {
		t.Run(role, func(t *testing.T) {
			w := apply(t)
			if err := run(t, w, w.policy(t, role)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("C61", testTwoTeams)
	t.Run("names are taken literally", testStrangeNames)
	t.Run("out of scope", testOutOfScope)
}

// Every action must be there, and no other action may be there.
func TestGrantsAreExact(t *testing.T) {
	for role, run := range purposes {
		t.Run(role, func(t *testing.T) {
			for name, m := range mutations(apply(t).policy(t, role)) {
				t.Run(name, func(t *testing.T) {
					w := apply(t)
					m.expect(t, run(t, w, m.change(w.policy(t, role))))
				})
			}
		})
	}
}
