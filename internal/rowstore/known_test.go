package rowstore

import (
	"slices"
	"testing"
)

// A row that a pending write has left keeps the others pending: they may be on their way.
func TestSeeKeepsPendingWritesWhileTheyMayBeApplied(t *testing.T) {
	k := Known[row]{Row: row{rev: "a"}}
	k.Add(row{rev: "b"}, Moment{}, "me")
	k.Add(row{rev: "c"}, Moment{}, "me")
	for _, rev := range []string{"a", "b", "c"} {
		seen := k
		seen.See(row{rev: rev})
		if len(seen.Pending) != 2 {
			t.Errorf("with the rev %s, %d writes are pending", rev, len(seen.Pending))
		}
	}
	k.See(row{rev: "another's"})
	if len(k.Pending) != 0 {
		t.Error("a write that cannot be applied any more is pending")
	}
}

// A write accepts the pending writes of its own writer, and of nobody else.
func TestConditionAcceptsPendingWritesOfItsWriter(t *testing.T) {
	k := Known[row]{Row: row{rev: "a"}}
	k.Add(row{rev: "b"}, Moment{}, "me")
	k.Add(row{rev: "c"}, Moment{}, "you")
	if revs := k.RevIn(row{}, "me").Revs; !slices.Equal(revs, []string{"a", "b"}) {
		t.Errorf("accepted are %v", revs)
	}
	if !k.PendingBy("you") || k.PendingBy("others") {
		t.Error("writes are pending for the wrong writer")
	}
}

// An outage piles up no more writes than a condition can hold, and views that were handed out do not
// change.
func TestPendingWritesAreBounded(t *testing.T) {
	k := Known[row]{Row: row{rev: "a"}}
	for range 3 * maxPending {
		before := len(k.Pending)
		view := k
		k.Add(row{rev: "x"}, Moment{}, nil)
		if len(view.Pending) != before {
			t.Fatal("a view has changed")
		}
	}
	if n := len(k.RevIn(row{}, nil).Revs); n > 100 {
		t.Errorf("a condition of %d revs", n)
	}
}
