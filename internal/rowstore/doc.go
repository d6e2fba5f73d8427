// Package rowstore changes rows of one DynamoDB table by compare-and-set, and tells a lost answer
// from a refusal. It knows nothing of leases: callers say what a row is, what to write on top of
// it, and under which condition.
//
// # Why a change takes effect once
//
//   - Each attempt writes a rev of its own, and is conditional on the row being as it was seen, or
//     as an earlier attempt of the same call may have left it. So at most one of these states is
//     built on, at whatever time a request arrives.
//   - A refusal brings the row along. If its rev is one of ours, that attempt was applied and its
//     answer was lost.
//   - A write that was never answered is a pending write. It stays with the known row, and the next
//     write of the row takes it into account. When the row shows a rev that is neither the known
//     one nor a pending one, no pending write can be applied any more.
//   - What is still open at the end is [ErrUnknownOutcome]. It never means "not done".
//
// # The one loop
//
// Every request of the library goes through [Table.Try]: it sends, and decides from the outcome
// whether to end, to look again, or to wait. What differs between a read, one row, and many rows in
// a transaction is handed in as [Attempts].
//
// # The SDK's own builders
//
// The expressions and the decoding are written here rather than with feature/dynamodb/expression
// and feature/dynamodb/attributevalue of the SDK. See make bench-builders: a lease's update takes a
// fraction of the time and the allocations. And the decoder is strict: an attribute of another type
// is an error that names the row, where attributevalue leaves the field at its zero value or
// converts it.
package rowstore
