package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// joinService makes a node a member of a service that takes part in the world's group.
func (n *node) joinService(service string) {
	n.w.Helper()
	if _, err := n.Heartbeat(n.w.Context(), dynamolease.Node{Service: service, Name: "n", Address: "n:1", Groups: []string{n.w.group}}, ttl); err != nil {
		n.w.Fatal(err)
	}
}

func (n *node) claim(service string) string {
	n.w.Helper()
	by, err := n.ClaimGroup(n.w.Context(), n.w.group, service)
	if err != nil {
		n.w.Fatalf("claim for %s: %v", service, err)
	}
	return by
}

func (n *node) expectClaim(service, want string) {
	n.w.Helper()
	if by := n.claim(service); by != want {
		n.w.Fatalf("%s claims a group of %s", service, by)
	}
}

// A group is one service's for as long as that has nodes which take part in it.
func TestClaimCO23(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.joinService("shop")
		a.Path.Reset()
		a.expectClaim("shop", "shop")
		a.expectClaim("shop", "shop")
		if got := a.Path.Count("GetItem"); got != 3 || a.Path.Count("UpdateItem") != 1 {
			w.Errorf("requests %v", a.Path.Requests())
		}
		if leases, err := a.Leases(w.Context(), w.group); err != nil || len(leases) != 0 {
			w.Errorf("leases %v, %v: the claim is none", leases, err)
		}
		b.joinService("office")
		b.expectClaim("office", "shop")
		a.expectClaim("shop", "shop")
		a.drainOf("shop", "n", true)
		b.expectClaim("office", "office")
		a.drainOf("shop", "n", false)
		a.expectClaim("shop", "office")
		if err := b.Leave(w.Context(), "office", "n"); err != nil {
			w.Fatal(err)
		}
		a.expectClaim("shop", "shop")
		w.expire()
		b.joinService("office")
		b.expectClaim("office", "office")
	})
}

// A takeover that was cut short between its two steps gives the group to nobody: a node that has claimed it before has it, also
// from a third service.
func TestClaimCO23CutShort(t *testing.T) {
	for _, joins := range []bool{true, false} {
		t.Run(fmt.Sprintf("a node was missed: %v", joins), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b, c := w.node(), w.node(), w.node()
				a.joinService("shop")
				a.expectClaim("shop", "shop")
				a.drainOf("shop", "n", true)
				b.joinService("office")
				b.Path.Next("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					if joins { // after the look at its members, and before the first step
						a.drainOf("shop", "n", false)
						a.expectClaim("shop", "shop")
					}
					b.Path.Every("", dynamotest.AccessDenied()) // and no step after that
					return send(req)
				})
				if by, err := b.ClaimGroup(w.Context(), w.group, "office"); err == nil {
					w.Fatalf("claimed for %s", by)
				}
				w.expire()
				c.joinService("third")
				if joins {
					a.joinService("shop")
					c.expectClaim("third", "shop")
					a.expectClaim("shop", "shop")
				} else {
					c.expectClaim("third", "third")
				}
			})
		})
	}
}

func (n *node) drainOf(service, name string, on bool) {
	n.w.Helper()
	order := n.Undrain
	if on {
		order = n.Drain
	}
	if err := order(n.w.Context(), service, name); err != nil {
		n.w.Fatal(err)
	}
}

// A node of the former service joins, and claims, between any two requests of a takeover: one of the two services has the group.
func TestClaimCO23Races(t *testing.T) {
	const requests = 10
	for joins := range requests {
		for claims := joins; claims < requests; claims++ {
			t.Run(fmt.Sprintf("joins before %d, claims before %d", joins, claims), func(t *testing.T) {
				w := newWorld(t)
				former, a, b := w.node(), w.node(), w.node()
				former.joinService("shop")
				former.expectClaim("shop", "shop")
				if err := former.Leave(t.Context(), "shop", "n"); err != nil {
					t.Fatal(err)
				}
				b.joinService("office")
				sent, by := 0, ""
				b.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					if sent == joins {
						a.joinService("shop")
					}
					if sent == claims {
						by = a.claim("shop")
					}
					sent++
					return send(req)
				})
				others := b.claim("office")
				if joins >= sent || claims >= sent {
					return // no request of this takeover was so late
				}
				if (by == "shop") == (others == "office") {
					t.Errorf("shop was told %q, and office %q", by, others)
				}
				if again := a.claim("shop"); again != by {
					t.Errorf("shop was told %q, and then %q", by, again)
				}
			})
		}
	}
}

// Whatever becomes of the answers: who is told that it has the group has it, and a call after a failure finds out.
func TestClaimCO23Faults(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"lost": dynamotest.LoseResponse(), "never sent": dynamotest.LoseRequest(), "twice": dynamotest.Twice(), "throttled": dynamotest.Throttle(), "hangs after": dynamotest.HangAfter(),
	} {
		for nth := range 3 {
			t.Run(fmt.Sprint(name, " ", nth), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.node(), w.node()
					a.joinService("shop")
					a.expectClaim("shop", "shop")
					if err := a.Leave(w.Context(), "shop", "n"); err != nil {
						w.Fatal(err)
					}
					b.joinService("office")
					pass := func(req *http.Request, send dynamotest.Send) (*http.Response, error) { return send(req) }
					for range nth {
						b.Path.Next("UpdateItem", pass)
					}
					b.Path.Next("UpdateItem", fault)
					b.expectClaim("office", "office")
					b.joinService("office")
					a.joinService("shop")
					a.expectClaim("shop", "office")
				})
			})
		}
	}
}

// A claim whose members may not be read is another service's, as far as anybody can tell.
func TestClaimCO23Denied(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.joinService("shop")
		a.expectClaim("shop", "shop")
		b.joinService("office")
		heal := b.Path.Every("Query", dynamotest.AccessDenied())
		by, err := b.ClaimGroup(w.Context(), w.group, "office")
		var setup *dynamolease.SetupError
		if by != "shop" || !errors.As(err, &setup) {
			w.Errorf("%q, %v", by, err)
		}
		heal()
		b.Path.Every("", dynamotest.Hang())
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if by, err := b.ClaimGroup(ctx, w.group, "office"); by != "" || err == nil {
			w.Errorf("%q, %v", by, err)
		}
		for argument, names := range map[string][2]string{"group": {"", "s"}, "service": {"g", ""}} {
			var refused *dynamolease.ArgumentError
			if _, err := b.ClaimGroup(w.Context(), names[0], names[1]); !errors.As(err, &refused) || refused.Argument != argument {
				w.Errorf("%q: %v", names, err)
			}
		}
	})
	inVirtualTime(t, func(w *world) {
		row := key("L#"+w.group, "SERVICE")
		row["claimed"], row["rev"] = number("1"), text("r")
		w.Put(row)
		var malformed *dynamolease.RowError
		if by, err := w.node().ClaimGroup(w.Context(), w.group, "office"); by != "" || !errors.As(err, &malformed) {
			w.Errorf("%q, %v", by, err)
		}
	})
}
