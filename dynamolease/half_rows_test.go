package dynamolease_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// halfRows are rows of partition 1 that lack some of what says who holds it. Its session lives.
func (n *node) halfRows() map[string]attributes {
	holder := attributes{
		"owner": text("a"), "exp": millis(ttl), "service": text(n.w.service), "session": text(n.session.ID()),
	}
	halves := make(map[string]attributes)
	for mask := range 1 << 4 {
		row, name := attributes{"epoch": number("7"), "rev": text("r"), "ttl": number("4000000000")}, ""
		for i, attribute := range []string{"owner", "exp", "service", "session"} {
			if mask&(1<<i) != 0 {
				row[attribute], name = holder[attribute], name+"+"+attribute
			}
		}
		switch name {
		case "", "+owner+exp", "+owner+service+session": // free, and the two kinds of leases
		default:
			halves[name] = row
		}
	}
	return halves
}

// halfRowOperations are all that meet the row of partition 1.
var halfRowOperations = map[string]func(w *world, n *node, lease dynamolease.Lease) error{
	"Acquire": func(w *world, n *node, _ dynamolease.Lease) error {
		_, acquired, err := n.Acquire(w.Context(), w.group, 1, "b", ttl)
		return notDoneBut(acquired, err)
	},
	"Acquire by the owner": func(w *world, n *node, _ dynamolease.Lease) error {
		_, acquired, err := n.Acquire(w.Context(), w.group, 1, "a", ttl)
		return notDoneBut(acquired, err)
	},
	"AcquireAll": func(w *world, n *node, _ dynamolease.Lease) error {
		_, acquired, err := n.AcquireAll(w.Context(), w.group, []int{1, 2}, "b", ttl)
		return notDoneBut(acquired, err)
	},
	"Session.Acquire": func(w *world, n *node, _ dynamolease.Lease) error {
		_, acquired, err := n.session.Acquire(w.Context(), w.group, 1)
		return notDoneBut(acquired, err)
	},
	"Renew": func(w *world, n *node, _ dynamolease.Lease) error {
		leases, err := n.Renew(w.Context(), w.group, []int{1}, "a", ttl)
		return notDoneBut(len(leases) > 0, err)
	},
	"Release": func(w *world, n *node, _ dynamolease.Lease) error {
		released, err := n.Release(w.Context(), w.group, 1, "a")
		return notDoneBut(released, err)
	},
	"Session.Release": func(w *world, n *node, _ dynamolease.Lease) error {
		released, err := n.session.Release(w.Context(), w.group, 1)
		return notDoneBut(released, err)
	},
	"Revoke": func(w *world, n *node, _ dynamolease.Lease) error {
		_, done, err := n.Revoke(w.Context(), w.group, 1, 7)
		return notDoneBut(done, err)
	},
	"Owners": func(w *world, n *node, _ dynamolease.Lease) error {
		leases, err := n.Owners(w.Context(), w.group)
		return notDoneBut(len(leases) > 0, err)
	},
	"Leases": func(w *world, n *node, _ dynamolease.Lease) error {
		leases, err := n.Leases(w.Context(), w.group)
		return notDoneBut(len(leases) > 0, err)
	},
	"Lease": func(w *world, n *node, _ dynamolease.Lease) error {
		_, err := n.Lease(w.Context(), w.group, 1)
		return err
	},
	"Resume": func(w *world, n *node, lease dynamolease.Lease) error {
		_, err := n.Resume(w.Context(), lease)
		return err
	},
	"Checkpoint": func(w *world, n *node, lease dynamolease.Lease) error {
		return n.Checkpoint(w.Context(), lease, []byte("5"))
	},
	"Transact": func(w *world, n *node, lease dynamolease.Lease) error {
		return n.Transact(w.Context(), lease, []byte("5"), w.increment("counter"))
	},
	"Reap": func(w *world, n *node, _ dynamolease.Lease) error {
		report := n.reap(dynamolease.ReapConfig{})
		return notDoneBut(report.Deleted > 0, errors.Join(report.Malformed...))
	},
}

func notDoneBut(done bool, err error) error {
	if done {
		return fmt.Errorf("it was done: %v", err)
	}
	return err
}

// LS53: a row that lacks some of what says who holds it is malformed to every operation that meets it, by the holder's store
// or any other, and stays as it is.
func TestHalfRowLS53(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(halfRowOperations)) {
		for _, who := range []string{"the holder", "another"} {
			t.Run("LS53/B12/"+name+" by "+who, func(t *testing.T) {
				inVirtualTime(t, func(w *world) { halfRows(w, name, who) })
			})
		}
	}
}

func halfRows(w *world, name, who string) {
	holder := w.node()
	holder.open("a", 10*ttl)
	lease := holder.acquire(1, "a")
	for half, row := range holder.halfRows() {
		w.putRow("L#"+w.group, "P#0000000001", row)
		before, n := holder.row(1), holder
		if who == "another" {
			n = w.node()
			n.session = holder.session
		}
		err := halfRowOperations[name](w, n, lease)
		var malformed *dynamolease.RowError
		if !errors.As(err, &malformed) || malformed.SK != "P#0000000001" {
			w.Errorf("%s: %v", half, err)
		}
		w.wantRow(half, before, holder.row(1))
	}
}
