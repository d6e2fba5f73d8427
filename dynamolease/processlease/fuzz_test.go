package processlease

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	owner     = "6f1f1f0c-6d35-4c5c-9d0b-0a3a3f6b2c11"
	successor = "b3f1c4d2-0d51-4a0e-8f0e-2f6f5d6f7a22"
	headRow   = "pk S P#node\nsk S HEAD\nnode S node\nowner S " + owner + "\nterm N 3\nseq N 9\nexp N 1767225610000\nlasts N 10000\nrev S r\n"
	fenceRow  = "pk S P#node\nsk S T#00000000000000000003\nnode S node\n" +
		"predecessor.owner S " + owner + "\npredecessor.term N 2\npredecessor.seq N 7\npredecessor.exp N 1\n" +
		"successor.owner S " + successor + "\nsuccessor.term N 3\nsuccessor.seq N 8\nsuccessor.exp N 2\n"
)

// itemOf is the row with these attributes.
func itemOf(k rowstore.Key, attributes []rowstore.Attribute) rowstore.Item {
	row := k.Item()
	for _, a := range attributes {
		if a.Value != nil {
			row[a.Name] = a.Value
		}
	}
	return row
}

// checkInvalid checks that the error of a row that cannot be read is one that names it.
func checkInvalid(t *testing.T, k rowstore.Key, text string, err error) {
	t.Helper()
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), k.PK) || !strings.Contains(err.Error(), k.SK) {
		t.Errorf("%q: the error is %v", text, err)
	}
	var malformed *dynamolease.RowError
	if errors.As(err, &malformed) && (malformed.PK != k.PK || malformed.SK != k.SK || malformed.Attribute == "" || malformed.Problem == "") {
		t.Errorf("%q: the error names something else: %v", text, err)
	}
}

// Whatever a head is: it is read as what it says, or is an error that names it. Only no row at all is no head.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		headRow, headRow + "resigned BOOL true\n", headRow + "resigned BOOL false\n", headRow + "ttl N 1\n", headRow + "node S other\n",
		headRow + "owner S 00000000-0000-0000-0000-000000000000\n", headRow + "owner S " + strings.ToUpper(owner) + "\n",
		headRow + "term N 0\n", headRow + "seq N 18446744073709551615\n", headRow + "seq N 18446744073709551616\n", headRow + "exp N 9223372036854775807\n",
		headRow + "lasts N 99999999999999\n", headRow + "more S " + strings.Repeat("x", 1024) + "\n", headRow + "rev B r\n", "",
	} {
		f.Add("node", text)
	}
	f.Fuzz(func(t *testing.T, node, text string) {
		row := testkit.Row(text)
		read, err := decodeHead(node, row)
		switch {
		case err != nil:
			checkInvalid(t, headKey(node), text, err)
			if read.exists() {
				t.Errorf("%q is an error and read as %v", text, read)
			}
			return
		case read.exists() != (len(row) > 0):
			t.Errorf("%q is read as %v", text, read)
		case !read.exists():
			return
		}
		if read.Node != node || read.Owner == uuid.Nil || read.Term == 0 || read.Seq == 0 || read.lasts <= 0 {
			t.Errorf("%q is read as %v", text, read)
		}
		written := maps.Clone(row)
		maps.Copy(written, itemOf(headKey(node), read.attributes()))
		if again, err := decodeHead(node, written); err != nil || again != read {
			t.Errorf("%q is read as %+v, and when written so as %+v, %v", text, read, again, err)
		}
		if next, err := read.renewed(1e9); err == nil && (next.Seq != read.Seq+1 || next.lasts < read.lasts) {
			t.Errorf("%v is renewed as %v", read, next)
		}
		if next, fence, err := read.succeeded(uuid.New(), 1e9); err == nil && (next.Term != read.Term+1 || next.Seq != read.Seq+1 || fence.Validate() != nil) {
			t.Errorf("%v is taken over as %v", read, next)
		}
	})
}

// Whatever a fence's row is: it is a fence that a takeover can have written at its key, or an error that names it.
func FuzzFenceRow(f *testing.F) {
	for _, text := range []string{
		fenceRow, fenceRow + "ttl N 1\n", fenceRow + "more N 1\n", fenceRow + "successor.term N 4\n", fenceRow + "successor.seq N 7\n",
		fenceRow + "successor.owner S " + owner + "\n", fenceRow + "predecessor S x\n", fenceRow + "predecessor.term N 18446744073709551615\n",
		fenceRow + "node S other\n", fenceRow + "predecessor.resigned BOOL true\n", fenceRow + "predecessor.exp N 9223372036854775807\n", "",
	} {
		f.Add("node", text, true)
		f.Add("node", text, false)
	}
	f.Fuzz(func(t *testing.T, node, text string, bySuccessor bool) {
		row := testkit.Row(text)
		k := predecessorKey(node, uuid.MustParse(owner))
		if bySuccessor {
			k = successorKey(node, 3)
		}
		read, err := decodeFence(k, node, row)
		if err != nil {
			checkInvalid(t, k, text, err)
			if read != (Fence{}) {
				t.Errorf("%q is an error and read as %v", text, read)
			}
			return
		}
		if read.Validate() != nil || read.Successor.Node != node || bySuccessor && read.Successor.Term != 3 || !bySuccessor && read.Predecessor.Owner.String() != owner {
			t.Errorf("%q at %v is read as %v", text, k, read)
		}
		if again, err := decodeFence(k, node, itemOf(k, read.attributes())); err != nil || !again.equal(read) {
			t.Errorf("%q is read as %+v, and when written so as %+v, %v", text, read, again, err)
		}
	})
}

// Whatever the reasons of a cancelled takeover: it ends the call only if the head was looked at, and
// then with an error that says that the rows are at fault.
func FuzzRefusedFence(f *testing.F) {
	for _, codes := range []string{
		"None,ConditionalCheckFailed,ConditionalCheckFailed", "TransactionConflict,ConditionalCheckFailed,None",
		"None,TransactionConflict,None", "ValidationError,None,None", "None,None,Unheard", "",
	} {
		f.Add(codes)
	}
	f.Fuzz(func(t *testing.T, codes string) {
		refusal := new(types.TransactionCanceledException)
		busy, final := true, false
		for code := range strings.SplitSeq(codes, ",") {
			reason := types.CancellationReason{Code: &code}
			outcome := request.ClassifyReason(reason)
			busy = busy && (len(refusal.CancellationReasons) > 0 || outcome == request.NotDone)
			final = final || outcome == request.Refused || outcome == request.Failed
			refusal.CancellationReasons = append(refusal.CancellationReasons, reason)
		}
		err := fenceRefused(refusal)
		if (err != nil) != (final && !busy) {
			t.Errorf("%s: %v", codes, err)
		}
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: the error is %v", codes, err)
		}
	})
}
