package dynamolease

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Rows of process leases: package processlease keeps them in the same table.
const (
	processPrefix     = "P#"
	processHead       = "HEAD"
	predecessorPrefix = "F#"
	successorPrefix   = "T#"
)

// A dueRow is a row that may be deleted, as it was seen.
type dueRow struct {
	key rowstore.Key
	rev string // empty where rows of its kind have none
	ttl string // as it is written in the row
}

// judgeDue reports whether a row whose ttl has passed must be kept, and otherwise what to delete. It
// is kept if it is live all the same: nothing is ever decided by ttl alone. The error is a [RowError]
// for a row that cannot be read.
func judgeDue(row rowstore.Item, at rowstore.Moment) (due dueRow, kept bool, err error) {
	d := decode(row)
	d.Positive(attrTTL)
	if ttl, ok := row[attrTTL].(*types.AttributeValueMemberN); ok {
		due.ttl = ttl.Value
	}
	due.key = d.Key
	switch {
	case strings.HasPrefix(d.Key.PK, leasePrefix):
		due.rev, kept, err = judgeLease(row, at)
	case strings.HasPrefix(d.Key.PK, memberPrefix):
		due.rev, kept, err = judgeMember(row, d.Key, at)
	case strings.HasPrefix(d.Key.PK, processPrefix):
		kept, err = judgeProcess(d)
	default:
		return due, true, nil // somebody else's, whatever its ttl is
	}
	if err == nil && !kept {
		err = d.Err
	}
	return due, kept, err
}

func judgeLease(row rowstore.Item, at rowstore.Moment) (rev string, kept bool, err error) {
	lease, err := decodeLease(row)
	// One in a session has no ttl; if somebody gave it one, its session would have to be asked.
	return lease.rev, err == nil && (lease.inSession() || lease.unexpired(at)), err
}

func judgeMember(row rowstore.Item, k rowstore.Key, at rowstore.Moment) (rev string, kept bool, err error) {
	if strings.HasPrefix(k.SK, drainPrefix) {
		drain, err := decodeDrain(row)
		return drain.rev, err == nil && drain.on, err
	}
	member, err := decodeMember(row)
	return member.rev, err == nil && member.live(at), err
}

// judgeProcess keeps the heads: a term must not begin again. A fence has a ttl only when it is of no use to anybody.
func judgeProcess(d *rowstore.Decoder) (kept bool, err error) {
	switch {
	case d.Key.SK == processHead:
		return true, nil
	case strings.HasPrefix(d.Key.SK, predecessorPrefix), strings.HasPrefix(d.Key.SK, successorPrefix):
		d.Text(attrNode)
		if d.Has(rowstore.AttrRev) {
			d.Fail(rowstore.AttrRev, "is not of a fence")
		}
		return false, d.Err
	}
	return false, malformed(d.Key, rowstore.AttrSK, "is not HEAD, F# or T#")
}
