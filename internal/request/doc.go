// Package request sends single requests to DynamoDB and reports the outcome of each.
//
// The SDK retries by itself. A conditional write that it retries can fail against its own first
// attempt. The SDK also fixes the content of the write, such as an expiry, before its first
// attempt, which may be long ago by the time of the last one. So every request here is one
// attempt, bounded by its own timeout.
//
// The [Outcome] of an attempt is one of five: done, refused, not done (retry), unknown (the store
// may have done it, or may still do it), failed. An answer that DynamoDB did not make, since it has
// no request id, leaves it unknown; what failed before it was sent was not done. From that, and from a fresh reading of the
// clock, the caller decides whether to send another. A [Budget] bounds how often and for how
// long.
//
// Each attempt leaves an [Answer]: the readings of the node's clock before and after it, and the
// Date of the store's response, even if that is a refusal or an error. The store's clock learns
// from these too.
package request
