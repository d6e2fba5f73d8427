package coordinator

import (
	"maps"
	"slices"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// What the comparison of the table with the workers says, and that it changes neither.
func TestReconcile(t *testing.T) {
	work := func(partition int, epoch int64) *worker { return &worker{partition: partition, epoch: epoch} }
	kept, taken, gone, old, unreadable := work(0, 7), work(1, 7), work(2, 7), work(3, 7), work(4, 7)
	h := holdings{
		held:   map[int]*worker{0: kept, 1: taken, 2: gone, 3: old, 4: unreadable},
		ending: map[int]bool{5: true},
	}
	leases := []dynamolease.Lease{
		{Partition: 0, Owner: "a#1", Epoch: 7},
		{Partition: 1, Owner: "b#1", Epoch: 8},
		{Partition: 3, Owner: "a#1", Epoch: 9}, // under another epoch than the worker's
		{Partition: 5, Owner: "a#1", Epoch: 7},
		{Partition: 6, Owner: "a#1", Epoch: 7}, // an orphan
		{Partition: 7, Owner: "a#0", Epoch: 7}, // of a former process of the node
		{Partition: 8, Owner: "c", Epoch: 7},
	}
	owns := func(lease dynamolease.Lease) bool { return lease.Owner == "a#1" }
	got := reconcile("a", leases, owns, map[int]bool{4: true}, h)

	owners := map[int]string{0: "a", 1: "b", 3: "a", 4: "", 5: "a", 6: "a", 7: "", 8: "c"}
	if !maps.Equal(got.owners, owners) {
		t.Errorf("owners %v, want %v", got.owners, owners)
	}
	if held := map[int]*worker{0: kept, 4: unreadable}; !maps.Equal(got.held, held) {
		t.Errorf("held %v, want %v", got.held, held)
	}
	slices.SortFunc(got.lost, func(a, b lostWorker) int { return a.worker.partition - b.worker.partition })
	lost := func(l lostWorker, w *worker, owner string, epoch int64) bool {
		return l.worker == w && l.to.Owner == owner && l.to.Epoch == epoch
	}
	if len(got.lost) != 2 || !lost(got.lost[0], taken, "b#1", 8) || !lost(got.lost[1], old, "a#1", 9) || len(got.missing) != 1 || !lost(got.missing[0], gone, "", 0) {
		t.Errorf("lost %v, missing %v", got.lost, got.missing)
	}
	if ending := map[int]bool{1: true, 2: true, 3: true, 5: true}; !maps.Equal(got.ending, ending) {
		t.Errorf("ending %v, want %v", got.ending, ending)
	}
	if !slices.Equal(got.orphans, []int{6}) {
		t.Errorf("orphans %v", got.orphans)
	}
	if len(h.held) != 5 || len(h.ending) != 1 || taken.lost || taken.ending {
		t.Errorf("the comparison changed the holdings: %+v", h)
	}
	if !got.believe() || got.held[2] != gone || got.ending[2] || len(got.missing)+len(got.orphans) > 0 || len(got.lost) != 2 {
		t.Errorf("by an eventual reading: %+v", got)
	}
}
