package rowstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// cancellation returns a cancelled transaction whose reasons have these codes, divided by commas, and
// bring along this row.
func cancellation(codes, text string) *types.TransactionCanceledException {
	err := new(types.TransactionCanceledException)
	for code := range strings.SplitSeq(codes, ",") {
		reason := types.CancellationReason{Code: &code}
		if code == "ConditionalCheckFailed" {
			reason.Item = item(text)
		}
		err.CancellationReasons = append(err.CancellationReasons, reason)
	}
	return err
}

// Whatever a cancelled bulk says of its rows: each is held still, lost, or the call fails. A row is
// lost only if its own condition did not hold, and a row that cannot be read is an error of its own.
func FuzzCancelledBatch(f *testing.F) {
	for _, codes := range []string{
		"ConditionalCheckFailed,None", "None,ConditionalCheckFailed", "TransactionConflict,None", "ThrottlingError,ConditionalCheckFailed",
		"ValidationError,None", "None", "None,None,None", "Unheard,ConditionalCheckFailed",
	} {
		f.Add(codes, aRow)
	}
	f.Add("ConditionalCheckFailed,None", aRow+"value N 1\n")
	f.Add("ConditionalCheckFailed,None", "")
	f.Fuzz(func(t *testing.T, codes, text string) {
		bulk := &Bulk[row]{
			Decode: decodeRow,
			Holds:  func(r row, _ Moment) bool { return r.value == "v" },
		}
		sent := []*BulkRow[row]{{Key: Key{"p", "s"}}, {Key: Key{"p", "t"}}}
		b := &batch[row]{bulk: bulk, budget: request.NewBudget(time.Minute, 0), sent: sent}
		_, err := b.refused(t.Context(), request.Answer{}, cancellation(codes, text))
		list := strings.Split(codes, ",")
		_, malformed := decodeRow(item(text))
		for i, r := range sent {
			if r.Lost && (len(list) != len(sent) || list[i] != "ConditionalCheckFailed") {
				t.Errorf("%s: row %d is lost", codes, i)
			}
			if r.Applied != nil {
				t.Errorf("%s: row %d was written", codes, i)
			}
			came := len(list) == len(sent) && list[i] == "ConditionalCheckFailed" && text != ""
			if came && malformed != nil && r.Err == nil && err == nil {
				t.Errorf("%s: a row that cannot be read is no error: %v", codes, malformed)
			}
			if r.Err != nil && (!came || malformed == nil) {
				t.Errorf("%s: the error of row %d is of a row that did not come: %v", codes, i, r.Err)
			}
		}
		if errors.As(err, new(*malformedError)) {
			t.Errorf("%s: a row that cannot be read fails the others: %v", codes, err)
		}
	})
}

// A row that a refusal brought along is that of the condition on it, and of no other.
func FuzzRefusedRow(f *testing.F) {
	f.Add("ConditionalCheckFailed,None", aRow)
	f.Add("None,ConditionalCheckFailed", aRow)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, codes, text string) {
		row, came := RefusedRow(cancellation(codes, text))
		first, _, _ := strings.Cut(codes, ",")
		if came != (first == "ConditionalCheckFailed") || !came && len(row) > 0 {
			t.Errorf("%s: %v, %v", codes, row, came)
		}
	})
}
