package dynamolease

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	key key
	rev string // empty where rows of its kind have none
	ttl string // as it is written in the row
}

// judgeDue tells whether a row whose ttl has passed may be deleted. It is kept if it is live all the same: nothing is ever
// decided by ttl alone. The error is a [RowError] for a row that cannot be read.
func judgeDue(row item, at moment) (due dueRow, kept bool, err error) {
	d := decode(row)
	d.positive(attrTTL)
	if ttl, ok := row[attrTTL].(*types.AttributeValueMemberN); ok {
		due.ttl = ttl.Value
	}
	due.key = d.key
	switch {
	case strings.HasPrefix(d.key.pk, leasePrefix):
		due.rev, kept, err = judgeLease(row, at)
	case strings.HasPrefix(d.key.pk, memberPrefix):
		due.rev, kept, err = judgeMember(row, d.key, at)
	case strings.HasPrefix(d.key.pk, processPrefix):
		kept, err = judgeProcess(d)
	default:
		return due, true, nil // somebody else's, whatever its ttl is
	}
	if err == nil && !kept {
		err = d.err
	}
	return due, kept, err
}

func judgeLease(row item, at moment) (rev string, kept bool, err error) {
	lease, err := decodeLease(row)
	// One in a session has no ttl; if somebody gave it one, its session would have to be asked.
	return lease.rev, err == nil && (lease.inSession() || lease.unexpired(at)), err
}

func judgeMember(row item, k key, at moment) (rev string, kept bool, err error) {
	if strings.HasPrefix(k.sk, drainPrefix) {
		drain, err := decodeDrain(row)
		return drain.rev, err == nil && drain.on, err
	}
	member, err := decodeMember(row)
	return member.rev, err == nil && member.live(at), err
}

// judgeProcess keeps the heads: a term must not begin again. A fence has a ttl only when it is of no use to anybody.
func judgeProcess(d decoder) (kept bool, err error) {
	switch {
	case d.key.sk == processHead:
		return true, nil
	case strings.HasPrefix(d.key.sk, predecessorPrefix), strings.HasPrefix(d.key.sk, successorPrefix):
		d.text(attrNode)
		if d.has(attrRev) {
			d.fail(attrRev, "is not of a fence")
		}
		return false, d.err
	}
	return false, d.key.malformed(attrSK, "is not HEAD, F# or T#")
}
