package dynamolease

import (
	"strconv"
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

// A dueRow is a row that Reap may have to do with, as it saw the row.
type dueRow struct {
	key   rowstore.Key
	rev   string // empty if rows of its kind have none
	ttl   string // as the row has it
	due   bool   // the ttl has passed, and the grace after it
	kept  bool   // it must not be deleted
	lease leaseRow
}

// judgeDue reports of a row whether Reap must keep it although its ttl has passed: the ttl alone
// never decides anything. If the row cannot be read, the error is a [RowError].
func judgeDue(row rowstore.Item, at rowstore.Moment) (due dueRow, err error) {
	d := decode(row)
	due.key = d.Key
	switch {
	case strings.HasPrefix(d.Key.PK, leasePrefix) && d.Key.SK == claimSort: // it has no ttl, but for somebody's hand
		due.kept = true
	case strings.HasPrefix(d.Key.PK, leasePrefix):
		due.lease, err = decodeLease(row)
		due.rev = due.lease.rev
		// Only its session shows whether a lease in a session is live.
		due.kept = due.lease.inSession() || due.lease.unexpired(at)
	case strings.HasPrefix(d.Key.PK, memberPrefix):
		due.rev, due.kept, err = judgeMember(row, d.Key, at)
	case strings.HasPrefix(d.Key.PK, processPrefix):
		due.kept, err = judgeProcess(d)
	default:
		due.kept = true // not a row of this library: its ttl does not matter
		return due, nil
	}
	if err != nil || due.kept {
		return due, err
	}
	d.Positive(attrTTL)
	if ttl, ok := row[attrTTL].(*types.AttributeValueMemberN); ok {
		due.ttl = ttl.Value
	}
	return due, d.Err
}

// isDue reports whether the ttl of a row has passed, or cannot be compared.
func isDue(row rowstore.Item, by int64) bool {
	value, ok := row[attrTTL]
	if !ok {
		return false
	}
	ttl, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return true
	}
	n, err := strconv.ParseFloat(ttl.Value, 64)
	return err == nil && n <= float64(by)
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
