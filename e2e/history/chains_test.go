package history

import (
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// inspect finds each violation of the rules about fenced work, checkpoints and closed sessions.
func TestInvariantsOfChainsFind(t *testing.T) {
	by := func(owner string) *call { return &call{what: acquire, partitions: []int{0}, owner: owner, yes: true} }
	at := func(r row, checkpoint string) row {
		r["checkpoint"] = value{B: []byte(checkpoint)}
		return r
	}
	for want, tell := range map[string]func(s *tale){
		"another stood there": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, at(s.lease("a", 5, 60), "5:2")) })
			r := at(s.lease("a", 5, 60), "5:2")
			r["work"] = textValue("x")
			under := dynamolease.Lease{Epoch: 5, Checkpoint: []byte("5:1")}
			s.call(&call{what: transact, owner: "a", under: under}, func(c *call) { s.write(c, r) })
		},
		"a lease lost its checkpoint": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, at(s.lease("a", 5, 1), "5:2")) })
			s.call(&call{what: sweep}, func(c *call) { s.write(c, bare(leaseRowKey(group, 0))) })
		},
		"a row with a checkpoint is dated": func(s *tale) {
			r := at(s.lease("a", 5, 60), "5:2")
			r["ttl"] = number(2_000_000)
			s.call(by("a"), func(c *call) { s.write(c, r) })
		},
		"whose heartbeat had landed before": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
			closed := s.member("a#1", 0)
			closed["exp"], closed["left"] = number(1), number(5)
			s.call(by("b"), func(c *call) { s.write(c, closed) })
		},
		"the call sent nothing": func(s *tale) {
			s.call(&call{what: release, owner: "a", err: dynamolease.ErrUnknownOutcome}, func(*call) {})
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := newTale()
			tell(s)
			if s.inspect(); !strings.Contains(strings.Join(s.problems, "\n"), want) {
				t.Errorf("the problems are %q; one must contain %q", s.problems, want)
			}
		})
	}
}

// What somebody deletes by hand is no fault of a call.
func TestInvariantsAllowDeletionsByHand(t *testing.T) {
	s := newTale()
	s.call(&call{what: acquire, owner: "a", yes: true}, func(c *call) {
		r := s.lease("a", 5, 60)
		r["checkpoint"] = value{B: []byte("5:1")}
		s.write(c, r)
	})
	s.call(&call{what: deleteByHand}, func(c *call) { s.write(c, bare(leaseRowKey(group, 0))) })
	if s.inspect(); len(s.problems) > 0 {
		t.Error(s.problems)
	}
}
