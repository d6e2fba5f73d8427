package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A malformed row costs its own partition, and no other: the node that works it goes on for
// as long as the lease is good, nobody takes it, and all else is balanced and taken over as ever.
// When the row is mended it is worked again.
func TestMalformedRow(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		const partitions = 9
		nodes := []*node{w.start("a", partitions, inMode(mode)), w.start("b", partitions, inMode(mode)), w.start("c", partitions, inMode(mode))}
		w.settle(partitions, nodes...)
		malformed := w.works(nodes[0])[0]
		runs := len(w.history(malformed))
		good := time.Now().Add(w.history(malformed)[runs-1].lease.Remaining())
		w.spoil("L#"+w.group, fmt.Sprintf("P#%010d", malformed))
		nodes[1].crash()
		others := func() bool { return w.busy() >= partitions-1 && len(w.works(nodes[1])) == 0 }
		w.within(2*ttl+grace+2*round, "taken over", others)
		d := w.start("d", partitions, inMode(mode))
		w.within(5*round, "shared with a newcomer", func() bool { return len(w.works(d)) >= 2 && others() })
		d.path.Reset()
		w.always(12*round, "kept", func() bool { return others() && len(w.history(malformed)) == runs })
		switch ended := w.history(malformed)[runs-1].ended; {
		case mode == coordinator.Sessions && !ended.IsZero():
			w.Error("the handler was stopped, though its session lives")
		case mode == coordinator.PerLease && ended.Before(good):
			w.Errorf("the handler was stopped %v before its lease was over", good.Sub(ended))
		}
		if n := d.path.Count("GetItem"); n > 0 {
			w.Errorf("it was tried %d times to acquire it", n)
		}
		if err := nodes[0].State().LastError; !isRow(err) {
			w.Errorf("the latest error is %v", err)
		}
		w.deleteRow(malformed)
		w.within(40*round, "worked again", func() bool { return w.balanced(partitions, nodes[0], nodes[2], d) })
	})
}

// A row with the last epoch that there is reads well, and cannot be acquired. The others are.
func TestMalformedEpoch(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		for partition := range 3 {
			w.put("L#"+w.group, fmt.Sprintf("P#%010d", partition), map[string]types.AttributeValue{
				"epoch": &types.AttributeValueMemberN{Value: "9223372036854775807"}, "rev": &types.AttributeValueMemberS{Value: "r"},
			})
		}
		a, b := w.start("a", 9, inMode(mode)), w.start("b", 9, inMode(mode))
		w.within(8*round, "worked but for three", func() bool { return w.busy() == 6 && len(w.works(a)) > 0 && len(w.works(b)) > 0 })
		if err := a.State().LastError; !isRow(err) {
			w.Errorf("the latest error is %v", err)
		}
	})
}

// A malformed row of a stranger stops no member.
func TestMalformedMember(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a := w.start("a", 4, inMode(mode))
		w.settle(4, a)
		w.spoil("M#"+w.service, "N#stranger")
		w.spoil("M#"+w.service, "D#stranger")
		b := w.start("b", 4, inMode(mode))
		w.within(4*round, "in balance", func() bool { return w.balanced(4, a, b) })
		a.crash()
		w.within(ttl+grace+2*round, "taken over", func() bool { return w.balanced(4, b) })
		if err := b.State().LastError; !isRow(err) {
			w.Errorf("the latest error is %v", err)
		}
	})
}

func isRow(err error) bool {
	var row *dynamolease.RowError
	return errors.As(err, &row)
}

// spoil makes a row that is none of the library's.
func (w *world) spoil(pk, sk string) {
	w.Helper()
	w.put(pk, sk, map[string]types.AttributeValue{
		"owner": &types.AttributeValueMemberS{Value: "somebody"}, "epoch": &types.AttributeValueMemberS{Value: "seven"},
		"node": &types.AttributeValueMemberN{Value: "7"}, "drained": &types.AttributeValueMemberS{Value: "perhaps"},
	})
}

// put writes a row past all stores.
func (w *world) put(pk, sk string, row map[string]types.AttributeValue) {
	w.Helper()
	row["pk"], row["sk"] = &types.AttributeValueMemberS{Value: pk}, &types.AttributeValueMemberS{Value: sk}
	_, err := w.direct().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &w.table, Item: row})
	if err != nil {
		w.Fatal(err)
	}
}
