package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// Quiet rounds cost a heartbeat and a reading of the members, and seldom more, also while something is
// wrong that no round can mend.
func TestQuietCO15(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]func(w *world) (free int){
		"nothing is wrong": func(*world) int { return 0 },
		"a malformed row": func(w *world) int {
			w.spoil("L#"+w.group, "P#0000000003")
			return 1
		},
		"malformed members": func(w *world) int {
			w.spoil("M#"+w.service, "N#stranger")
			w.spoil("M#"+w.service, "D#stranger")
			return 0
		},
		"a member whose expiry nobody can reach": func(w *world) int {
			w.put("M#"+w.service, "N#m", map[string]types.AttributeValue{
				"node": &types.AttributeValueMemberS{Value: "m"}, "address": &types.AttributeValueMemberS{Value: "m:1"},
				"exp": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().UnixNano())}, "rev": &types.AttributeValueMemberS{Value: "r"},
			})
			return 0
		},
		"a program without a coordinator holds some": func(w *world) int {
			store := w.look()
			w.Cleanup(store.Close)
			mute, err := store.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "mute", Address: "mute:1"}, 24*time.Hour)
			if err != nil {
				w.Fatal(err)
			}
			for partition := range 3 {
				if _, acquired, err := mute.Acquire(w.Context(), w.group, partition); !acquired || err != nil {
					w.Fatal(acquired, err)
				}
			}
			return 3
		},
	} {
		modes := []coordinator.LeaseMode{coordinator.Sessions, coordinator.PerLease}
		for _, mode := range modes[:testkit.Size(1, 2)] {
			t.Run(fmt.Sprintf("%s/%d", name, mode), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					free := state(w)
					a, b := w.start("a", 12, inMode(mode)), w.start("b", 12, inMode(mode))
					w.within(10*round, "worked", func() bool { return w.busy() == 12-free })
					w.quiet(a, b)
				})
			})
		}
	}
}

// quiet expects that nodes read little in many rounds.
func (w *world) quiet(nodes ...*node) {
	w.Helper()
	rounds := testkit.Size(40, 100)
	time.Sleep(ttl + grace + 10*round)
	before := w.moves()
	for _, n := range nodes {
		n.path.Reset()
	}
	time.Sleep(time.Duration(rounds) * interval)
	if got := w.moves(); got != before {
		w.Errorf("%d moves", got-before)
	}
	for _, n := range nodes {
		reads := make(map[string]int)
		for _, r := range n.path.Requests() {
			if r.Op == "Query" || r.Op == "GetItem" {
				reads[r.Op+" "+strings.SplitN(string(r.Body), `"S":"`, 2)[1][:2]]++
			}
		}
		// The members in each round, and the owners, with the sessions of their holders, each 10 to 36.
		if owners := reads["Query L#"]; owners > rounds/5 {
			w.Errorf("%s read the owners %d times in %d rounds", n.name, owners, rounds)
		}
		if members := reads["Query M#"]; members > rounds*3/2 {
			w.Errorf("%s read the members %d times in %d rounds", n.name, members, rounds)
		}
		if n.path.Count("GetItem") > 0 {
			w.Errorf("%s: %v", n.name, reads)
		}
	}
}

// A service whose group another one works asks for it in each round, and reads its owners seldom.
func TestQuietCO15Claimed(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 12)
		w.settle(12, a)
		other := w.start("b", 12, of("other-"+w.service))
		w.within(2*round, "told", func() bool { return !other.well() })
		time.Sleep(ttl + grace + 10*round)
		other.path.Reset()
		time.Sleep(60 * interval)
		owners := 0
		for _, r := range other.path.Requests() {
			if r.Op == "Query" && strings.Contains(string(r.Body), "L#"+w.group) {
				owners++
			}
		}
		if claims := other.path.Count("GetItem"); owners > 12 || claims < 50 || claims > 70 {
			w.Errorf("read the owners %d times, and the claim %d times, in 60 rounds", owners, claims)
		}
	})
}

// A check of permissions that finds one missing is made again, but not in each round.
func TestQuietCO15Permissions(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.prepare("a", 4)
		heal := a.path.Every("GetItem", onRow("M#", dynamotest.AccessDenied()))
		a.begin(context.Background())
		w.settle(4, a)
		a.path.Reset()
		time.Sleep(60 * interval)
		if got := a.path.Count("GetItem"); got < 3 || got > 30 {
			w.Errorf("%d reads for the check in 60 rounds", got)
		}
		heal()
		w.within(2*time.Minute, "well", func() bool { return a.Health() == nil })
	})
}

// A node that the members do not list looks in the next round, though it has not given up all that it
// has to, and no sooner.
func TestQuietCO15NotListed(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 20, grouped(func(g *coordinator.Group) { g.MovesPerRound = 1 }))
		w.settle(20, a)
		store := w.look()
		defer store.Close()
		if _, err := store.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "b", Address: "b:1", Groups: []string{w.group}}, time.Minute); err != nil {
			w.Fatal(err)
		}
		w.within(3*round, "giving up", func() bool { return w.busy() < 20 })
		heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.Hang()))
		defer heal()
		if err := store.Leave(w.Context(), w.service, "a"); err != nil {
			w.Fatal(err)
		}
		a.path.Reset()
		time.Sleep(2 * round)
		if looks := a.path.Count("Query"); looks < 1 || looks > 8 {
			w.Errorf("%d looks in two rounds", looks)
		}
	})
}
