package dynamolease

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Keys of the rows of process leases. Package processlease may keep them in this table.
const (
	processPrefix     = "P#"
	processHead       = "HEAD"
	predecessorPrefix = "F#"
	successorPrefix   = "T#"
)

// A dueRow is a row that Reap may delete, as it saw the row.
type dueRow struct {
	key rowstore.Key
	rev string // empty if rows of its kind have none
	ttl string // as the row has it
}

// judgeDue reports whether Reap must keep a row whose ttl has passed. Otherwise it returns the
// row to delete. Reap keeps a row that is live although its ttl has passed: the ttl alone never
// decides anything. If the row cannot be read, the error is a [RowError].
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
		return due, true, nil // not a row of this library: its ttl does not matter
	}
	if err == nil && !kept {
		err = d.Err
	}
	return due, kept, err
}

func judgeLease(row rowstore.Item, at rowstore.Moment) (rev string, kept bool, err error) {
	lease, err := decodeLease(row)
	// A lease in a session has no ttl. If somebody gave it one, only its session would show
	// whether it is live. So keep it.
	return lease.rev, err == nil && (lease.inSession() || lease.unexpired(at)), err
}

func judgeMember(row rowstore.Item, k rowstore.Key, at rowstore.Moment) (rev string, kept bool, err error) {
	if strings.HasPrefix(k.SK, drainPrefix) {
		drain, err := decodeDrain(row)
		return drain.rev, false, err
	}
	member, err := decodeMember(row)
	return member.rev, err == nil && member.live(at), err
}

// judgeProcess keeps the heads, because a term must not begin again. It does not keep fences: a
// fence has a ttl only if no process needs it any more.
func judgeProcess(d *rowstore.Decoder) (kept bool, err error) {
	switch {
	case d.Key.SK == processHead:
		return true, nil
	case strings.HasPrefix(d.Key.SK, predecessorPrefix), strings.HasPrefix(d.Key.SK, successorPrefix):
		d.Text(attrNode)
		if d.Has(rowstore.AttrRev) {
			d.Fail(rowstore.AttrRev, "must not be in a fence")
		}
		return false, d.Err
	}
	return false, malformed(d.Key, rowstore.AttrSK, "is neither HEAD, F# nor T#")
}
