package dynamolease

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Check returns a condition for a transaction of your own: the transaction is applied only while
// nobody else has taken the lease, and it was not released. table is the one that the lease is in.
// It needs no clock, and holds whatever happened to the process since: paused, suspended, cut off.
// It costs two write units.
//
// A cancelled transaction brings the lease's row along. [Store.Transact] does all that, and tells
// lost answers from refusals.
func (l Lease) Check(table string) types.TransactWriteItem {
	held := rowstore.Condition{Equal: []rowstore.Attribute{
		{Name: attrOwner, Value: rowstore.Text(l.Owner)}, {Name: attrEpoch, Value: rowstore.Number(l.Epoch)},
	}}
	check := rowstore.Check(table, leaseKey(l.Group, l.Partition), held)
	check.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return types.TransactWriteItem{ConditionCheck: check}
}

// A FencedError is returned when fenced work was refused, because its lease was taken by another
// holder or released. Nothing was written. Stop the work: it is somebody else's now.
type FencedError struct {
	Lease  Lease // under which the work was tried
	Holder Lease // the lease as it is now; without an owner when nobody has it, without an epoch when its row is gone
}

func (e *FencedError) Error() string {
	if e.Holder.Owner == "" {
		return fmt.Sprintf("lease %s/%d with epoch %d is no longer held", e.Lease.Group, e.Lease.Partition, e.Lease.Epoch)
	}
	return fmt.Sprintf("lease %s/%d with epoch %d was taken by %s with epoch %d",
		e.Lease.Group, e.Lease.Partition, e.Lease.Epoch, e.Holder.Owner, e.Holder.Epoch)
}

// checkOwn accepts a lease that this process got for itself, also one that has run out since. A
// lease from Owners, or from Acquire when another owner holds the partition, would get through
// every fence.
func checkOwn(l Lease) error {
	if l.validity == (validity{}) {
		return &ArgumentError{"lease", "must be one that this process has acquired, not one that was only read, or is of another owner"}
	}
	return checkLease(l.Group, l.Partition, l.Owner)
}

// covers reports whether the row is still that of the lease. An epoch has one holder for ever.
func (l Lease) covers(row leaseRow) bool {
	return row.rev != "" && row.owner == l.Owner && row.epoch == l.Epoch
}

func (l Lease) fenced(row leaseRow) error {
	holder := Lease{Group: l.Group, Partition: l.Partition}
	if row.rev != "" {
		holder = row.lease()
	}
	return &FencedError{Lease: l, Holder: holder}
}
