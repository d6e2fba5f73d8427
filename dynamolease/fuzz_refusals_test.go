package dynamolease

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// cancellation is a cancelled transaction whose reasons have these codes, divided by commas, and bring along this row.
func cancellation(codes, row string) *types.TransactionCanceledException {
	err := new(types.TransactionCanceledException)
	for code := range strings.SplitSeq(codes, ",") {
		reason := types.CancellationReason{Code: &code}
		if code == "ConditionalCheckFailed" {
			reason.Item = refusedRow(row)
		}
		err.CancellationReasons = append(err.CancellationReasons, reason)
	}
	return err
}

// refusedRow is what comes along with a refusal: a row of the table, or nothing where there is none.
func refusedRow(text string) item {
	if text == "" {
		return nil
	}
	return tableRow(text)
}

// Whatever a cancelled renewal says of its leases: each is held still, lost, or the call fails. A lease is lost only if its
// own condition did not hold, and a row that cannot be read is an error of its own lease.
func FuzzCancelledBatch(f *testing.F) {
	for _, codes := range []string{
		"ConditionalCheckFailed,None", "None,ConditionalCheckFailed", "TransactionConflict,None", "ThrottlingError,ConditionalCheckFailed",
		"ValidationError,None", "None", "None,None,None", "Unheard,ConditionalCheckFailed",
	} {
		f.Add(codes, plainLease)
	}
	f.Add("ConditionalCheckFailed,None", plainLease+"exp S x\n")
	f.Add("ConditionalCheckFailed,None", "")
	f.Fuzz(func(t *testing.T, codes, text string) {
		at := now(time.Unix(1767225605, 0))
		s := &Store{timing: at.clock}
		b := &batch{bulk: s.extension("a", time.Minute), budget: request.NewBudget(0, 0)}
		open := []*bulkItem{{key: leaseKey("orders", 7)}, {key: leaseKey("orders", 8)}}
		err := b.cancelled(t.Context(), open, request.Answer{}, at, cancellation(codes, text))
		list := strings.Split(codes, ",")
		_, malformed := decodeLease(refusedRow(text))
		for i, item := range open {
			if item.lost && (len(list) != len(open) || list[i] != "ConditionalCheckFailed") {
				t.Errorf("%s: lease %d is lost", codes, i)
			}
			if item.applied != nil {
				t.Errorf("%s: lease %d was renewed", codes, i)
			}
			came := len(list) == len(open) && list[i] == "ConditionalCheckFailed" && text != ""
			if came && malformed != nil && item.err == nil && err == nil {
				t.Errorf("%s: a row that cannot be read is no error: %v", codes, malformed)
			}
			if item.err != nil && (!came || malformed == nil) {
				t.Errorf("%s: the error of lease %d is of a row that did not come: %v", codes, i, item.err)
			}
		}
		if errors.As(err, new(*RowError)) {
			t.Errorf("%s: a row that cannot be read fails the other leases: %v", codes, err)
		}
	})
}

// A row that a refusal brought along is that of the condition on it, and of no other.
func FuzzRefusedRow(f *testing.F) {
	f.Add("ConditionalCheckFailed,None", plainLease)
	f.Add("None,ConditionalCheckFailed", plainLease)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, codes, text string) {
		row, came := refusedItem(cancellation(codes, text))
		first, _, _ := strings.Cut(codes, ",")
		if came != (first == "ConditionalCheckFailed") || !came && len(row) > 0 {
			t.Errorf("%s: %v, %v", codes, row, came)
		}
	})
}
