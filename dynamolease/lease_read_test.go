package dynamolease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// LS55: what is free can be read, with its checkpoint and epoch, and nothing is acquired or changed by that.
func TestLeaseLS55(t *testing.T) {
	for name, test := range map[string]struct {
		make func(w *world, n *node) // partition 1
		want func(lease dynamolease.Lease, n *node) bool
	}{
		"no row": {func(*world, *node) {}, func(lease dynamolease.Lease, _ *node) bool {
			return lease.Owner == "" && lease.Epoch == 0 && lease.Checkpoint == nil
		}},
		"released": {func(w *world, n *node) {
			n.checkpointed(1, "5")
			n.release(1, "a")
		}, freeWith("5")},
		"released, without a checkpoint": {func(_ *world, n *node) {
			n.acquire(1, "a")
			n.release(1, "a")
		}, freeWith("")},
		"expired": {func(w *world, n *node) {
			n.checkpointed(1, "5")
			w.expire()
		}, freeWith("5")},
		"of a session that died": {func(w *world, n *node) {
			n.open("a", ttl)
			n.take(1)
			w.expire()
		}, freeWith("")},
		"of a session without a row": {func(w *world, n *node) {
			n.open("a", ttl)
			n.take(1)
			w.Delete(n.sessionKey())
		}, freeWith("")},
		"held": {func(_ *world, n *node) { n.checkpointed(1, "5") }, func(lease dynamolease.Lease, _ *node) bool {
			return lease.Owner == "a" && string(lease.Checkpoint) == "5" && !lease.ExpiresAt.IsZero()
		}},
		"held in a session": {func(_ *world, n *node) {
			n.open("a", ttl)
			n.take(1)
		}, func(lease dynamolease.Lease, n *node) bool {
			return lease.Owner == "a" && lease.Session == n.session.ID() && !lease.ExpiresAt.IsZero()
		}},
		"revoked": {func(_ *world, n *node) { n.revoke(1, n.acquire(1, "a").Epoch) }, func(lease dynamolease.Lease, _ *node) bool {
			return lease.Owner == "a" && lease.Revoked()
		}},
	} {
		t.Run("LS55/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n, reader := w.node(), w.coldNode()
				n.acquire(2, "other")
				test.make(w, n)
				before := n.row(1)
				lease, err := reader.Lease(w.Context(), w.group, 1)
				if err != nil || lease.Group != w.group || lease.Partition != 1 || lease.Remaining() != 0 || !test.want(lease, n) {
					w.Errorf("the lease is %+v, %v", lease, err)
				}
				leases, err := reader.Leases(w.Context(), w.group)
				if err != nil || (len(before) > 0) != (len(leases) == 2) {
					w.Fatalf("the leases are %+v, %v", leases, err)
				}
				if len(before) > 0 && fmt.Sprintf("%+v", leases[0]) != fmt.Sprintf("%+v", lease) {
					w.Errorf("one by one the lease is\n%+v, and with the others\n%+v", lease, leases[0])
				}
				w.wantRow("what was read", before, n.row(1))
				for _, request := range reader.Path.Requests() {
					if request.Op != "Query" && request.Op != "GetItem" {
						w.Errorf("reading sent a %s", request.Op)
					}
				}
			})
		})
	}
}

func freeWith(checkpoint string) func(dynamolease.Lease, *node) bool {
	return func(lease dynamolease.Lease, _ *node) bool {
		return lease.Owner == "" && lease.Session == "" && lease.ExpiresAt.IsZero() && !lease.Revoked() &&
			lease.Epoch > 0 && string(lease.Checkpoint) == checkpoint
	}
}

// checkpointed acquires a partition and leaves a checkpoint.
func (n *node) checkpointed(partition int, data string) dynamolease.Lease {
	n.w.Helper()
	lease := n.acquire(partition, "a")
	if err := n.Checkpoint(n.w.Context(), lease, []byte(data)); err != nil {
		n.w.Fatal(err)
	}
	return lease
}

// sessionKey is the key of the row of the node's session.
func (n *node) sessionKey() attributes { return key("M#"+n.w.service, "N#"+n.session.ID()) }

// A malformed row is an error beside the leases that could be read, and so is the row of a malformed session.
func TestLeaseLS55Malformed(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		n.open("a", ttl)
		n.take(1)
		n.acquire(3, "b")
		w.spoilLease(2)
		leases, err := n.Leases(w.Context(), w.group)
		wantRowError(w, "leases", 2, err)
		w.wantPartitions(leases, "1 3")
		_, err = n.Lease(w.Context(), w.group, 2)
		wantRowError(w, "lease", 2, err)
		row := n.sessionRow()
		row["exp"] = text("soon")
		w.Put(row)
		if _, err := n.Lease(w.Context(), w.group, 1); !isRow(err) {
			w.Errorf("of a malformed session: %v", err)
		}
		if lease, err := n.Lease(w.Context(), w.group, 3); err != nil || lease.Owner != "b" {
			w.Errorf("of another: %+v, %v", lease, err)
		}
	})
}

// It costs as little as it can: one read, and one for a session; a group as its Owners.
func TestLeaseLS55Cost(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n, reader := w.node(), w.node()
		n.open("a", ttl)
		n.take(1)
		n.acquire(2, "b")
		for partition, want := range map[int]int{1: 2, 2: 1, 3: 1} {
			reader.Path.Reset()
			if _, err := reader.Lease(w.Context(), w.group, partition); err != nil || reader.Path.Count("") != want {
				w.Errorf("partition %d: %d requests, %v", partition, reader.Path.Count(""), err)
			}
		}
		reader.Path.Reset()
		if _, err := reader.Leases(w.Context(), w.group); err != nil || reader.Path.Count("") != 2 {
			w.Errorf("the group: %d requests, %v", reader.Path.Count(""), err)
		}
	})
}

// LS54: a checkpoint stays while its service is stopped, however long, until it is forgotten.
func TestCheckpointStaysLS54(t *testing.T) {
	for name, stop := range map[string]func(w *world, n *node){
		"released":              func(_ *world, n *node) { n.release(1, "a") },
		"killed":                func(w *world, _ *node) { w.expire() },
		"renewed and killed":    func(_ *world, n *node) { n.renew("a", 1) },
		"released by another":   func(w *world, _ *node) { w.node().release(1, "a") },
		"killed with a session": nil,
	} {
		t.Run("LS54/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				if stop == nil {
					n.open("a", ttl)
					if err := n.Checkpoint(w.Context(), n.take(1), []byte("5")); err != nil {
						w.Fatal(err)
					}
				} else {
					n.checkpointed(1, "5")
					stop(w, n)
				}
				for range 31 {
					time.Sleep(day)
					w.node().reap(dynamolease.ReapConfig{})
				}
				if row := n.row(1); row["ttl"] != nil {
					w.Errorf("the row is %v", row)
				}
				if lease, err := w.node().Lease(w.Context(), w.group, 1); err != nil || string(lease.Checkpoint) != "5" {
					w.Fatalf("the lease is %+v, %v", lease, err)
				}
				if err := n.Forget(w.Context(), w.group, 1); err != nil {
					w.Fatal(err)
				}
				time.Sleep(2 * day)
				w.node().reap(dynamolease.ReapConfig{})
				if left := n.row(1); len(left) > 0 {
					w.Errorf("left is %v", left)
				}
			})
		})
	}
}

// LS54: with CheckpointRetention a released row with a checkpoint goes after that time, and not before.
func TestCheckpointRetentionLS54(t *testing.T) {
	for _, kind := range []string{"plain", "session"} {
		t.Run("LS54/"+kind, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node(func(o *dynamolease.Options) { o.CheckpointRetention = 7 * day })
				if kind == "plain" {
					n.checkpointed(1, "5")
					n.release(1, "a")
				} else {
					n.open("a", ttl)
					if err := n.Checkpoint(w.Context(), n.take(1), []byte("5")); err != nil {
						w.Fatal(err)
					}
					if _, err := n.session.Release(w.Context(), w.group, 1); err != nil {
						w.Fatal(err)
					}
				}
				for range 6 {
					time.Sleep(day)
					w.node().reap(dynamolease.ReapConfig{})
				}
				if len(n.row(1)) == 0 {
					w.Error("it went too early")
				}
				time.Sleep(2 * day)
				w.node().reap(dynamolease.ReapConfig{})
				if left := n.row(1); len(left) > 0 {
					w.Errorf("left is %v", left)
				}
			})
		})
	}
}

func TestForget(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS54/of a held lease it is refused with the holder":              forgetHeld,
		"LS54/of a free one it removes the checkpoint, and dates the row": forgetFree,
		"LS54/of one whose holder is over it bars that holder":            forgetExpired,
		"LS54/again, and of nothing, it is no error":                      forgetNothing,
		"LS54/the next holder begins anew":                                forgetNext,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func (n *node) forget(partition int) error { return n.Forget(n.w.Context(), n.w.group, partition) }

func forgetHeld(w *world) {
	n, operator := w.node(), w.node()
	n.checkpointed(1, "5")
	n.open("a", ttl)
	n.take(2)
	for partition, session := range map[int]string{1: "", 2: n.session.ID()} {
		before := n.row(partition)
		var held *dynamolease.HeldError
		err := operator.forget(partition)
		if !errors.As(err, &held) || held.Lease.Owner != "a" || held.Lease.Session != session || held.Lease.ExpiresAt.IsZero() {
			w.Errorf("partition %d: %v", partition, err)
		}
		w.wantRow("a held lease", before, n.row(partition))
	}
}

func forgetFree(w *world) {
	n := w.node()
	lease := n.checkpointed(1, "5")
	n.release(1, "a")
	if err := w.node().forget(1); err != nil {
		w.Fatal(err)
	}
	row := n.row(1)
	if row["checkpoint"] != nil || row["ttl"] == nil || row["owner"] != nil || numberOf(row["epoch"]) != decimal(lease.Epoch) {
		w.Errorf("the row is %v", row)
	}
}

func forgetExpired(w *world) {
	n, b := w.node(), w.node()
	lease := n.checkpointed(1, "5")
	b.open("b", ttl)
	other := b.take(2)
	if err := b.Checkpoint(w.Context(), other, []byte("5")); err != nil {
		w.Fatal(err)
	}
	w.expire()
	for partition, late := range map[int]func() error{
		1: func() error { return n.Checkpoint(w.Context(), lease, []byte("6")) },
		2: func() error { return b.Checkpoint(w.Context(), other, []byte("6")) },
	} {
		if err := w.node().forget(partition); err != nil {
			w.Fatal(err)
		}
		var fenced *dynamolease.FencedError
		if err := late(); !errors.As(err, &fenced) {
			w.Errorf("the former holder of %d: %v", partition, err)
		}
		if row := n.row(partition); row["checkpoint"] != nil || row["owner"] != nil || row["ttl"] == nil {
			w.Errorf("the row is %v", row)
		}
	}
}

func forgetNothing(w *world) {
	n := w.node()
	n.checkpointed(1, "5")
	n.release(1, "a")
	n.acquire(2, "a")
	n.release(2, "a")
	for range 2 {
		for partition := range 4 {
			if err := n.forget(partition); err != nil {
				w.Errorf("partition %d: %v", partition, err)
			}
		}
	}
	if left := w.keys(); len(left) != 2 {
		w.Errorf("the rows are %v", left)
	}
}

func forgetNext(w *world) {
	n := w.node()
	former := n.checkpointed(1, "5")
	n.release(1, "a")
	if err := n.forget(1); err != nil {
		w.Fatal(err)
	}
	next := n.acquire(1, "a")
	if next.Checkpoint != nil || next.Epoch <= former.Epoch {
		w.Errorf("the next lease is %+v", next)
	}
	if err := n.Checkpoint(w.Context(), next, []byte("1")); err != nil {
		w.Error(err)
	}
}

// After any fault, Forget called again removes the checkpoint, and late requests of the first call remove none of a later
// holder.
func TestForgetEveryFault(t *testing.T) {
	for _, fault := range faults {
		t.Run("LS54/"+fault.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n, late := w.node(), newMailbox()
				n.checkpointed(1, "5")
				n.release(1, "a")
				stop := n.Path.Every("UpdateItem", fault.fault)
				err := n.Forget(w.giveUp(), w.group, 1)
				stop()
				if fault.kind == unknown && !errors.Is(err, dynamolease.ErrUnknownOutcome) || fault.kind == hopeless && err == nil {
					w.Errorf("forget: %v", err)
				}
				n.Path.Next("UpdateItem", late.post())
				_ = n.Forget(w.giveUp(), w.group, 1)
				if err := n.forget(1); err != nil || n.row(1)["checkpoint"] != nil {
					w.Errorf("again: %v, the row is %v", err, n.row(1))
				}
				n.checkpointed(1, "7")
				before := n.row(1)
				late.deliver()
				w.wantRow("the late request", before, n.row(1))
			})
		})
	}
}
