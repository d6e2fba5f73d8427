package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// inspect finds each violation, in the notes of the database and in the answers to callers.
func TestInvariantsFind(t *testing.T) {
	by := func(owner string) *call { return &call{what: acquire, partitions: []int{0}, owner: owner, yes: true} }
	for want, tell := range map[string]func(s *tale){
		"a call took a live lease": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(by("b"), func(c *call) { s.write(c, s.lease("b", 6, 70)) })
		},
		"the epoch went from 5 to 5": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 1)) })
			s.call(by("b"), func(c *call) { s.write(c, s.lease("b", 5, 70)) })
		},
		"the epoch went from 5 to 4": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 1)) })
			s.call(&call{what: sweep}, func(c *call) { s.write(c, bare(leaseRowKey(group, 0))) })
			s.call(by("b"), func(c *call) { s.write(c, s.lease("b", 4, 70)) })
		},
		"a call deleted a live lease": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(&call{what: reap}, func(c *call) { s.write(c, bare(leaseRowKey(group, 0))) })
		},
		"freed the lease of another owner": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(&call{what: release, owner: "b"}, func(c *call) { s.write(c, s.lease("", 5, 0)) })
		},
		"fenced work without holding the lease": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			r := s.lease("a", 5, 60)
			r["work"] = textValue("x")
			s.call(&call{what: transact, owner: "a", under: dynamolease.Lease{Epoch: 4}}, func(c *call) { s.write(c, r) })
		},
		"a call extended a session that was over": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 9)) })
			closed := s.member("a#1", 0)
			closed["exp"] = number(1)
			s.call(by("a"), func(c *call) { s.write(c, closed) })
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
		},
		"its session sent a successful heartbeat after that": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 1)) })
			r := s.lease("a", 5, 0)
			r["service"], r["session"] = textValue(service), textValue("a#1")
			s.call(by("a"), func(c *call) { s.write(c, r) })
			s.call(by("b"), func(c *call) { s.write(c, s.lease("b", 6, 99)) })
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
		},
		"item 2 of line 5": func(s *tale) { s.call(by("a"), func(c *call) { s.write(c, item(5, 1, 1, 5), item(5, 3, 1, 5)) }) },
		"done 2 times":     func(s *tale) { s.call(by("a"), func(c *call) { s.write(c, item(5, 1, 2, 5)) }) },
		"by epoch 5 after 6": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, item(5, 1, 1, 6), item(5, 2, 1, 5)) })
		},
		"its answer says otherwise": func(s *tale) {
			c := by("a")
			c.yes, c.err = false, errors.New("throttled")
			s.call(c, func(c *call) { s.write(c, s.lease("a", 5, 60)) })
		},
		"did its work 1 times": func(s *tale) {
			c := &call{what: transact, owner: "a", err: &dynamolease.FencedError{}}
			s.call(c, func(c *call) { s.write(c, item(5, 1, 1, 5)) })
		},
		"the answer says that the lease is lost": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(&call{what: renew, owner: "a", partitions: []int{0}, yes: true}, func(*call) {})
		},
		"was a member all the time": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a", 60)) })
			s.call(&call{what: members, yes: true}, func(*call) {})
		},
		"as a member that it never was": func(s *tale) {
			m := dynamolease.Member{Node: "b", Address: "here", ExpiresAt: s.origin.Add(time.Minute)}
			s.call(&call{what: members, yes: true, members: []dynamolease.Member{m}}, func(*call) {})
		},
		"an operator took a live lease": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(revokes(5), func(c *call) { s.write(c, s.lease("", 6, 0)) })
		},
		"the epoch did not grow by one": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 1)) })
			s.call(revokes(5), func(c *call) { s.write(c, s.lease("", 5, 0)) })
		},
		"a call to revoke epoch 4": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(revokes(4), func(c *call) { s.write(c, s.marked("a", 5, 60)) })
		},
		"a call extended a revoked lease": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			s.call(revokes(5), func(c *call) { s.write(c, s.marked("a", 5, 60)) })
			s.call(&call{what: renew, owner: "a"}, func(c *call) { s.write(c, s.marked("a", 5, 70)) })
		},
		"more than an order into a session": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
			s.call(revokes(5), func(c *call) { s.write(c, s.underOrders("a#1", order{0, 6})) })
		},
		"other than the session's heartbeat removed orders": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
			s.call(revokes(5), func(c *call) { s.write(c, s.underOrders("a#1", order{0, 5})) })
			s.call(&call{what: leaveService, owner: "a"}, func(c *call) { s.write(c, s.member("a#1", 60)) })
		},
		"an order that no operator gave": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
			s.call(&call{what: leaveSession, owner: "a"}, func(c *call) { s.write(c, s.underOrders("a#1", order{0, 5})) })
		},
		"a heartbeat left orders": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.member("a#1", 60)) })
			s.call(&call{what: beatSession, owner: "a"}, func(c *call) { s.write(c, s.underOrders("a#1", order{0, 5})) })
		},
		"its error says that it did not": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.lease("a", 5, 60)) })
			c := revokes(5)
			c.err = errors.New("throttled")
			s.call(c, func(c *call) { s.write(c, s.marked("a", 5, 60)) })
		},
		"does not say what the call asked for": func(s *tale) {
			s.call(&call{what: drain, owner: "n0", yes: true}, func(c *call) { s.write(c, drainRow("n0", 0)) })
		},
		"other than Drain and Undrain changed the drain": func(s *tale) {
			s.call(&call{what: drain, owner: "n0", yes: true}, func(c *call) { s.write(c, drainRow("n0", 1)) })
			s.call(&call{what: sweep}, func(c *call) { s.write(c, bare(drainKey("n0"))) })
		},
		"the call succeeded, and it wrote nothing": func(s *tale) {
			s.call(&call{what: drain, owner: "n0", yes: true}, func(*call) {})
		},
		"a takeover wrote the evidence []": func(s *tale) {
			s.call(by("a"), func(c *call) { s.write(c, s.head("a", 1)) })
			s.call(by("b"), func(c *call) { s.write(c, s.head("b", 2)) })
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := newTale()
			tell(s)
			s.inspect()
			if all := strings.Join(s.problems, "\n"); !strings.Contains(all, want) {
				t.Errorf("the problems are %q", all)
			}
		})
	}
}

// inspect finds no problem in a correct history.
func TestInvariantsFindNothingElse(t *testing.T) {
	s := newTale()
	s.call(&call{what: acquire, partitions: []int{0}, owner: "a", yes: true}, func(c *call) { s.write(c, s.lease("a", 5, 9)) })
	s.call(&call{what: release, partitions: []int{0}, owner: "a", yes: true}, func(c *call) { s.write(c, s.lease("", 5, 0)) })
	s.call(&call{what: acquire, partitions: []int{0}, owner: "b", yes: true}, func(c *call) { s.write(c, s.lease("b", 6, 60), item(6, 1, 1, 6)) })
	s.call(&call{what: members, yes: true}, func(*call) {})
	if s.inspect(); len(s.problems) > 0 {
		t.Error(s.problems)
	}
}

// checkBeliefs finds two nodes that believe in one lease, and a node that believes in a lease that
// it does not hold. The leases are real, and of two tables.
func TestBeliefsThatOverlapAreFound(t *testing.T) {
	server := testkit.Server(t)
	tables := []string{server.Table(t), server.Table(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newTale().world
		for i, table := range tables {
			path := server.VirtualTransport()
			defer path.Close()
			store, err := dynamolease.New(path.Client(), table)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			lease, acquired, err := store.Acquire(context.Background(), group, 0, fmt.Sprint("n", i), leaseTTL)
			if err != nil || !acquired {
				t.Fatal(lease, acquired, err)
			}
			w.believe(&node{}, lease)
		}
		all := strings.Join(w.problems, "\n")
		for _, want := range []string{"two nodes believe in one lease", "in a lease that it does not hold"} {
			if !strings.Contains(all, want) {
				t.Errorf("the problems are %q, want %q", all, want)
			}
		}
	})
}

func TestSettings(t *testing.T) {
	env := map[string]string{"PROOF_LONG": "1", "PROOF_SEED": "7", "PROOF_DURATION": "2m"}
	got, err := settingsOf(func(name string) string { return env[name] })
	if err != nil || got.seed != 7 || got.duration != 2*time.Minute || got.histories < 1000 {
		t.Errorf("got %+v, %v", got, err)
	}
	if short, err := settingsOf(func(string) string { return "" }); err != nil || short.seed != 1 {
		t.Errorf("the short run: got %+v, %v", short, err)
	}
	delete(env, "PROOF_SEED")
	if long, err := settingsOf(func(name string) string { return env[name] }); err != nil || long.seed < 1e18 {
		t.Errorf("the long run does not take its seed from the clock: got %+v, %v", long, err)
	}
	for name, text := range map[string]string{"PROOF_SEED": "x", "PROOF_HISTORIES": "0", "PROOF_DURATION": "soon"} {
		_, err := settingsOf(func(asked string) string {
			if asked == name {
				return text
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: got %v", name, text, err)
		}
	}
}
