package coordinator_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// However many rows are malformed, the rule is the same for each: more of them than an error has room
// for too.
func TestMalformedMany(t *testing.T) {
	t.Parallel()
	t.Run("held", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			const partitions = 150
			a, b := w.start("a", partitions), w.start("b", partitions)
			w.settle(partitions, a, b)
			moves := w.moves()
			for partition := range partitions - 10 {
				w.spoil("L#"+w.group, fmt.Sprintf("P#%010d", partition))
			}
			w.always(40*round, "worked as before", func() bool { return w.busy() == partitions && w.moves() == moves })
		})
	})
	const partitions, good = 150, 8
	for name, spoil := range map[string]func(w *world, partition string){
		"free": func(w *world, partition string) { w.spoil("L#"+w.group, partition) },
		"free, and legible": func(w *world, partition string) {
			w.put("L#"+w.group, partition, map[string]types.AttributeValue{
				"epoch": &types.AttributeValueMemberN{Value: "9223372036854775807"}, "rev": &types.AttributeValueMemberS{Value: "r"},
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				for partition := range partitions - good {
					spoil(w, fmt.Sprintf("P#%010d", partition))
				}
				a, b := w.start("a", partitions, inMode(mode)), w.start("b", partitions, inMode(mode))
				w.within(5*round, "worked but for those", func() bool { return w.busy() == good })
				w.always(5*round, "worked but for those", func() bool { return len(w.works(a))+len(w.works(b)) == good })
			})
		})
	}
}

// What cannot be released is not given up: whoever works it goes on, and others get what can be
// had.
func TestMalformedIsNotGivenUp(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		const partitions, malformed = 12, 6
		a := w.start("a", partitions)
		w.within(4*round, "taken", func() bool { return w.busy() == partitions })
		for partition := range malformed {
			w.spoil("L#"+w.group, fmt.Sprintf("P#%010d", partition))
		}
		b := w.start("b", partitions)
		w.within(6*round, "shared", func() bool { return len(w.works(b)) == partitions-malformed })
		w.always(6*round, "kept", func() bool { return len(w.works(a)) == malformed && len(w.works(b)) == partitions-malformed })
		if works := w.works(a); works[malformed-1] != malformed-1 {
			w.Errorf("a works %v", works)
		}
	})
}

// A node whose own row is malformed loses its session, and joins again.
func TestMalformedOwnMember(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a, b := w.start("a", 4, inMode(mode)), w.start("b", 4, inMode(mode))
		w.settle(4, a, b)
		former := a.State().Session
		w.spoil("M#"+w.service, "N#"+former)
		w.within(ttl+grace+2*round, "joined again", func() bool { s := a.State().Session; return s != former && a.State().Alive })
		c := w.start("c", 4, inMode(mode))
		w.within(10*round, "worked by all", func() bool { return len(w.works(c)) > 0 })
	})
}
