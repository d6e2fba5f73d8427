package dynamolease_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// reopen has a process go on after a loss.
func (n *node) reopen() {
	n.w.Helper()
	next, err := n.session.Reopen(n.w.Context())
	if err != nil {
		n.w.Fatalf("reopen: %v", err)
	}
	n.session = next
}

// A life is one process of a node, as a test knows it.
type life struct {
	*node
	joined time.Time // as the members said when it was the newest
	beaten time.Time // when its session was last extended
}

// listed expects that the members list one process of the node, and by its present session.
func listed(look *node, want *life) {
	look.w.Helper()
	members := look.members()
	if len(members) != 1 || members[0].Session != want.session.ID() {
		look.w.Fatalf("members %+v, want the session %s", members, want.session.ID())
	}
	if m := members[0]; want.joined.IsZero() {
		want.joined = m.JoinedAt
	} else if !m.JoinedAt.Equal(want.joined) {
		look.w.Errorf("joined at %v, and before at %v", m.JoinedAt, want.joined)
	}
}

// Processes of one node join, fall silent and come back in any order: of those that are there the members list the one that
// joined last, and each of the older ones knows it for a newer one, and no newer one takes an older one for that.
func TestReopenCO16Lives(t *testing.T) {
	for seed := range testkit.Size[uint64](6, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inVirtualTime(t, func(w *world) { liveTogether(w, rand.New(rand.NewPCG(seed, 16))) })
		})
	}
}

func liveTogether(w *world, dice *rand.Rand) {
	look := w.node()
	var lives []*life // in the order of their joining
	for range 40 {
		var newest *life
		switch next := dice.IntN(8); {
		case next == 0 && len(lives) < 4 || len(lives) == 0:
			newest = &life{node: w.coldNode(), beaten: time.Now()}
			newest.open("a", ttl)
			lives = append(lives, newest)
			listed(look, newest)
		case next == 1:
			w.expire()
		default:
			time.Sleep(time.Duration(dice.IntN(int(ttl / 4))))
		}
		for _, l := range lives {
			if dice.IntN(3) > 0 || l == newest {
				continue
			}
			if l.session.Err() != nil {
				l.reopen()
			} else {
				l.beat()
			}
			l.beaten = time.Now()
		}
		check(look, lives)
	}
}

// check expects that the members list the newest that is there. A process that has been silent for a ttl may be listed or not,
// for as long as the store's clock leaves that open.
func check(look *node, lives []*life) {
	look.w.Helper()
	members := look.members()
	for i := len(lives) - 1; i >= 0; i-- {
		l := lives[i]
		is := len(members) == 1 && members[0].Session == l.session.ID()
		for j, other := range lives {
			if is && other.session.ReplacedBy(members[0]) != (j < i) {
				look.w.Errorf("process %d is replaced by %d: %v", j, i, j >= i)
			}
		}
		silent := time.Since(l.beaten)
		if is && silent < ttl+graceOfExpiry {
			listed(look, l)
			return
		}
		if is || silent < ttl {
			look.w.Fatalf("members %+v; process %d of %d has been silent for %v", members, i, len(lives), silent)
		}
	}
	if len(members) > 0 {
		look.w.Errorf("members %+v, and nobody is there", members)
	}
}

// Two processes that joined in the same millisecond are in one order for everybody, and however often they open another session.
func TestReopenCO16Ties(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		look := w.node()
		row := func(id, first, opened, joined string) {
			r := key("M#"+w.service, "N#a#"+id)
			r["node"], r["session"], r["address"], r["exp"], r["rev"] = text("a"), text("a#"+id), text("here"), number("99999999999999"), text("r")
			r["opened"] = number(opened)
			if first != "" {
				r["first"], r["joined"] = text("a#"+first), number(joined)
			}
			w.Put(r)
		}
		expect := func(id string) {
			w.Helper()
			if members := look.members(); len(members) != 1 || members[0].Session != "a#"+id {
				w.Errorf("members %+v, want %s", members, id)
			}
		}
		row("m", "", "1000", "")
		row("d", "", "1000", "")
		expect("m") // the greater name
		row("z", "d", "3000", "1000")
		expect("m")
		row("b", "m", "2000", "1000")
		expect("b") // the later session of that process
		row("c", "m", "2000", "1000")
		expect("c")
		row("a", "", "1001", "") // one that joined later, and says no more than when it opened its session
		expect("a")
	})
}

// A process whose reopening was never answered is the same process when it tries again, whatever became of the first attempt.
func TestReopenCO16LostAnswers(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"never sent": dynamotest.Hang(), "applied, never answered": dynamotest.HangAfter(), "reset": dynamotest.LoseRequest(), "reset after": dynamotest.LoseResponse(),
		"refused": dynamotest.Throttle(), "of a proxy": dynamotest.Proxy(503),
	} {
		for _, successor := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, successor %v", name, successor), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					look, old, young := w.node(), &life{node: w.coldNode()}, &life{node: w.coldNode()}
					old.open("a", ttl)
					listed(look, old)
					w.expire()
					if successor {
						young.open("a", ttl)
					}
					heal := old.Path.Every("UpdateItem", fault)
					if _, err := old.session.Reopen(w.Context()); err == nil {
						w.Fatal("it has reopened")
					}
					heal()
					old.reopen()
					old.Close() // what it does in the background is done
					if successor {
						young.beat()
						listed(look, young)
					} else {
						listed(look, old)
					}
					if m := look.members()[0]; old.session.ReplacedBy(m) != successor {
						w.Errorf("replaced by %+v: %v", m, !successor)
					}
				})
			})
		}
	}
}

// Reopening is one write, by a process of the same node, ttl and groups, which takes what it took, and leaves the lost session over.
func TestReopenCO16(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		var err error
		n.session, err = n.OpenSession(w.Context(), dynamolease.Node{
			Service: w.service, Name: "a", Address: "a:1", Groups: []string{"g", "h"},
			Takes: map[string]dynamolease.Takes{"g": {Partitions: 9, Except: [][2]int{{2, 3}}}, "h": {Partitions: 5}},
		}, ttl)
		if err != nil {
			w.Fatal(err)
		}
		first, lost := n.members()[0], n.session
		lease := n.take(1)
		w.expire()
		n.Path.Reset()
		n.reopen()
		if n.Path.Count("UpdateItem") != 1 || n.Path.Count("") != 1 {
			w.Errorf("requests %v, want one write", n.Path.Requests())
		}
		if lease.Remaining() != 0 || !errors.Is(lost.Err(), dynamolease.ErrSessionLost) || n.session.Remaining() != ttl {
			w.Errorf("%v of the lease are left, %v of the session; the lost one says %v", lease.Remaining(), n.session.Remaining(), lost.Err())
		}
		m := n.members()[0]
		m.ExpiresAt, first.Session = first.ExpiresAt, n.session.ID()
		if fmt.Sprint(m) != fmt.Sprint(first) {
			w.Errorf("member %+v, want %+v", m, first)
		}
		n.beat() // keeps what the row says of the process
		if got := n.members()[0].JoinedAt; !got.Equal(first.JoinedAt) || got.IsZero() {
			w.Errorf("joined at %v, want %v", got, first.JoinedAt)
		}
		if n.session.ReplacedBy(m) || lost.ReplacedBy(m) {
			w.Error("replaced by itself")
		}
		if next := n.take(1); next.Epoch != lease.Epoch+1 {
			w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
		}
		for _, other := range []dynamolease.Member{{Service: w.service, Node: "a"}, {Service: "another", Node: "a"}, {}} {
			if n.session.ReplacedBy(other) {
				w.Errorf("replaced by %+v", other)
			}
		}
	})
}
