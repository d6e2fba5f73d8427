// Package request sends single requests to DynamoDB and says what became of each.
//
// The SDK retries by itself, and a conditional write that it retries can fail against its own first attempt. It also
// keeps what the write says (an expiry, say) from before its first attempt, which may be long ago by the time of the
// last. So every request here is one attempt, bounded by its own timeout, and its [Outcome] is one of five: done,
// refused, not done (try again), unknown (it may have been done, or may be done yet), failed. Who sends decides from
// that, with a fresh reading of the clock, whether to send another. A [Budget] bounds how often and how long.
//
// Each attempt leaves an [Answer]: the readings of the node's clock around it and the Date that the store put on the
// response, refusals and errors included. The store's clock is fed from the same place.
package request
