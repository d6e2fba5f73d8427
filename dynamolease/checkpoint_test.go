package dynamolease_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// checkpoint leaves data with the node's lease.
func (n *node) checkpoint(data string) {
	n.w.Helper()
	if err := n.Checkpoint(n.w.Context(), n.lease, []byte(data)); err != nil {
		n.w.Fatalf("checkpoint %q: %v", data, err)
	}
}

// unansweredCheckpoint writes a checkpoint and gives up before it is answered.
func (n *node) unansweredCheckpoint(data string, fault dynamotest.Fault) {
	n.w.Helper()
	n.Path.Next("UpdateItem", fault)
	n.w.wantUnknown("checkpoint", n.Checkpoint(n.w.giveUp(), n.lease, []byte(data)))
}

// What is said of a checkpoint is true, whatever was lost, and the lease is still held.
func TestCheckpointAnswersTrue(t *testing.T) {
	for name, how := range modes {
		t.Run("C03/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node(how)
				prepareFenced(a)
				a.Path.Next("UpdateItem", dynamotest.LoseResponse())
				a.checkpoint("5")
				a.wantCheckpoint("5")
				a.Path.Next("", dynamotest.LoseResponse())
				if got := a.renew("a", 1); len(got) != 1 || string(got[0].Checkpoint) != "5" {
					w.Errorf("renewed %+v", got)
				}
				a.checkpoint("6")
				a.wantCheckpoint("6")
				a.Path.Next("", dynamotest.LoseResponse())
				_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
				w.wantUnknown("renew", err)
				a.checkpoint("7")
				a.wantCheckpoint("7")
				checkKept(a)
				if got := a.renew("a", 1); len(got) != 1 || got[0].Epoch != 7 {
					w.Errorf("renewed %+v", got)
				}
			})
		})
	}
}

// A checkpoint goes with the partition, from holder to holder of either kind, until it is removed.
func TestCheckpointIsHandedOn(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b, c := w.node(), w.node(), w.node()
		a.lease = a.acquire(1, "a")
		if a.lease.Checkpoint != nil {
			w.Errorf("checkpoint %q at first", a.lease.Checkpoint)
		}
		a.checkpoint("released")
		a.renew("a", 1)
		a.release(1, "a")
		b.open("b", ttl)
		if b.lease = b.take(1); string(b.lease.Checkpoint) != "released" {
			w.Errorf("checkpoint %q", b.lease.Checkpoint)
		}
		b.checkpoint("died")
		b.beat()
		w.expire()
		if c.lease = c.acquire(1, "c"); string(c.lease.Checkpoint) != "died" {
			w.Errorf("checkpoint %q", c.lease.Checkpoint)
		}
		for _, n := range []*node{a, b} {
			var fenced *dynamolease.FencedError
			err := n.Checkpoint(w.Context(), n.lease, []byte("stale"))
			if !errors.As(err, &fenced) || fenced.Holder.Owner != "c" || fenced.Holder.Epoch != c.lease.Epoch || fenced.Lease.Epoch != n.lease.Epoch {
				w.Errorf("the former holder: %v", err)
			}
		}
		c.wantCheckpoint("died")
		c.checkpoint("")
		c.release(1, "c")
		if again := a.acquire(1, "a"); again.Checkpoint != nil {
			w.Errorf("checkpoint %q after it was removed", again.Checkpoint)
		}
		err := a.Checkpoint(w.Context(), c.lease, make([]byte, dynamolease.MaxCheckpoint+1))
		if err == nil || !strings.Contains(err.Error(), "checkpoint has 16385 bytes") {
			w.Errorf("too large: %v", err)
		}
	})
}

// A checkpoint that was written, though nobody knew, is not taken back by what is written to the row after it.
func TestCheckpointStays(t *testing.T) {
	for name, next := range map[string]func(n *node){
		"renew":   func(n *node) { n.renew("a", 1) },
		"extend":  func(n *node) { n.acquire(1, "a") },
		"release": func(n *node) { n.release(1, "a") },
		"all":     func(n *node) { n.acquireAll("a", []int{1, 2}) },
		"transact": func(n *node) {
			err := n.Transact(n.w.Context(), n.lease, nil, n.w.increment("counter"))
			if !errors.Is(err, dynamolease.ErrEarlierApplied) || n.w.count("counter") != "" {
				n.w.Errorf("%v: items that know nothing of the checkpoint were written on top of it", err)
			}
		},
	} {
		t.Run("C03/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				prepareFenced(a)
				a.checkpoint("5")
				a.unansweredCheckpoint("6", dynamotest.LoseResponse())
				a.wantCheckpoint("6")
				next(a)
				a.wantCheckpoint("6")
			})
		})
	}
}

// LS41: a checkpoint that arrives late replaces no newer one, and none of the next holder.
func TestCheckpointLate(t *testing.T) {
	for name, next := range map[string]func(n *node) string{
		"newer": func(n *node) string { n.checkpoint("7"); return "7" },
		"next holder's": func(n *node) string {
			n.w.expire()
			b := n.w.node()
			b.lease = b.acquire(1, "b")
			b.checkpoint("b's")
			return "b's"
		},
	} {
		t.Run("LS41/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				prepareFenced(a)
				a.unansweredCheckpoint("6", late.post())
				want := next(a)
				late.deliver()
				a.wantCheckpoint(want)
			})
		})
	}
}

// A checkpoint under the lease that a node had before does not undo an acquisition of its own that was not answered:
// epochs never go back, and neither do expiries.
func TestCheckpointOverUnansweredWrites(t *testing.T) {
	t.Run("epoch", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.node()
			prepareFenced(a)
			w.expire()
			a.Close() // nothing is undone in the background
			a.Path.Next("UpdateItem", dynamotest.LoseResponse())
			_, _, err := a.Acquire(w.giveUp(), w.group, 1, "a", ttl)
			w.wantUnknown("acquire", err)
			checkLeaseRow(a, "a", "8")
			_ = a.Checkpoint(w.Context(), a.lease, []byte("6"))
			checkLeaseRow(a, "a", "8")
		})
	})
	t.Run("LS3/expiry", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.node()
			prepareFenced(a)
			time.Sleep(3 * time.Second)
			a.Path.Next("", dynamotest.LoseResponse())
			_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
			w.wantUnknown("renew", err)
			before := a.row(1)
			a.checkpoint("6")
			delete(before, "ttl") // the only thing of the owner's that a checkpoint takes away
			w.wantRow("the checkpoint", before, a.row(1))
		})
	})
}

// A checkpoint was written and its answer lost, and then the partition changed hands: "nothing was written" would be a
// lie, since the next holder has it.
func TestCheckpointWrittenThenTaken(t *testing.T) {
	t.Run("C03", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.node(), w.node()
			prepareFenced(a)
			time.Sleep(ttl - time.Second)
			a.Path.Next("UpdateItem", dynamotest.HangAfter())
			door := dynamotest.NewDoor()
			a.Path.Next("UpdateItem", door.Hold)
			done := make(chan error)
			go func() { done <- a.Checkpoint(w.Context(), a.lease, []byte("6")) }()
			<-door.Arrived()
			a.release(1, "a")
			b.lease = b.acquire(1, "b")
			if string(b.lease.Checkpoint) != "6" {
				w.Fatalf("checkpoint %q", b.lease.Checkpoint)
			}
			door.Release()
			err := <-done
			var fenced *dynamolease.FencedError
			if errors.As(err, &fenced) && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
				w.Errorf("it was written, and is said not to be: %v", err)
			}
			synctest.Wait()
			b.wantCheckpoint("6")
		})
	})
}

// What a caller does with the bytes that it was given changes nothing in the table.
func TestCheckpointIsACopy(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		prepareFenced(a)
		data := []byte("5")
		if err := a.Checkpoint(w.Context(), a.lease, data); err != nil {
			w.Fatal(err)
		}
		data[0] = '!'
		a.renew("a", 1)
		a.wantCheckpoint("5")
		a.release(1, "a")
		a.lease = a.acquire(1, "a")
		a.lease.Checkpoint[0] = '?'
		if err := a.Transact(w.Context(), a.lease, nil); err != nil {
			w.Fatal(err)
		}
		a.wantCheckpoint("5")
	})
}
