// Package storeclock reads the time of the store, as an interval, from the
// Date header of its responses.
//
// A lease expires at a time that one node writes and others judge. None of their
// wall clocks is believed. The authority is the store's clock, of which every
// response, an error included, tells the second. A node's own clocks only
// measure how much time passed since a response, never what time it is.
//
// # What one response says
//
// A response dated D, to a request sent at s and received at r, shows that the
// store's clock was in [D, D+1s) at some moment in [s, r]. At a later reading
// now of the elapsed-time clock, see package elapsed, the store's time is
//
//	at least D + (now.Min - r.Min), less drift, and
//	below    D + 1s + (now.Max - s.Max), plus drift, plus slack.
//
// Slack is there because a front end may cache the header: the date may then
// be too early, never too late. Responses that meet the store's second at
// different phases have an intersection much narrower than a second. The result
// is the interval [Earliest, Latest]. A writer counts an expiry from Latest,
// so that the lease lasts no less than it should. A reader compares the expiry
// with Earliest, so that a lease is live unless it has surely expired.
//
// If now.Min and now.Max disagree on the age of a response, the node was
// suspended since or its wall clock stepped. The response is then forgotten:
// carried on by Max, it would make this node write an expiry that is off by
// the whole step. When nothing is left, [Clock.Now] says so until the next
// response. Clocks that are slewed part slowly, by a twelfth of the time at the
// most. That is no reason to forget, until they are a second apart: the low end
// goes on by Min and the high end by Max, so that the bounds hold.
//
// # What a false response can do
//
// One machine with a wrong clock, or one proxy with stale answers, must not
// move the bounds. Each response is an interval, widened by the margin on
// either side, as the store is many machines which do not agree to the
// millisecond. It is not widened by the slack: a clock that is wrong by a second
// would then overlap the others, and shift a bound without standing out. The
// regions that most intervals agree on win (Marzullo's algorithm); with a tie,
// everything between the candidates does. Then the region is let out until it
// holds the store's time even if some intervals are false.
//
// Of n samples, with a true one being off by no more than the margin, and cached
// by no more than a slack of at most 1s:
//
//   - If they do not all agree, the bounds hold with up to n/5 of them false,
//     rounded up, in any way, whether or not the false ones agree with each
//     other. One that is false by more than 2s, plus round trips, slack, margins
//     and drift, never agrees with a true one.
//   - If all agree, the bounds hold with up to n/10 false ones, rounded up, or
//     two where that is within n/5. What this costs comes out of the margin
//     first, so that while it happens the bounds hold only to within what the
//     true machines are apart.
//   - If all agree and more are false, up to n/5, a bound can be off by no more
//     than the phase of the store's second that the true responses leave open
//     next to it: (1+false)/n of a second if they are spread evenly, and never
//     more than a second, two margins and a round trip. For that each false one
//     must, by chance, fit all the others. Allowing for these too is not
//     possible at less than 0.4s more width, without a false response in sight:
//     if 20 spread evenly over the second agree, and any 4 of them may be false,
//     nothing narrower can be said.
//   - Fewer than five count only with a majority of at least two that agree: a
//     sole response is not believed, and where two differ a third decides.
//
// More false responses than that, but in the minority and far off, still lose
// the vote.
//
// What at least five samples, and nine in ten, have agreed on stays, if they came
// over two connections at least. Until then each request goes over a new
// connection (see [Clock.Unsettled]): otherwise the one connection that a node
// has kept through a suspend could make an agreement by itself. Later votes go on
// inside of the agreement, and narrow it. Without them it only widens, by the
// drift and as the local clocks part. A response that contradicts it does not
// vote. For a minute after one, too, requests go over new connections, so that
// other machines are heard. The agreement is given up, and the suspects vote from
// the start,
//
//   - when the latest responses of at least 20 connections contradict it, and those
//     are two thirds of all that were heard within a minute;
//   - when nothing else was heard for a minute, over at least five connections; or
//   - when the local clocks disagree on its age.
//
// Connections count, not responses, as each ends at one machine. Where the
// client's transport does not tell connections apart, each response counts as
// another. Where it has a single connection, which it does not close, nothing is
// ever agreed: the time is then what the latest responses say by majority.
//
// What a liar can still do, if it answers with DynamoDB's own request ids (a
// proxy's answers are not even observed):
//
//   - It gives all responses, or nearly all, from the first one on, or after a
//     suspend, although each was dialled anew. The bounds are then its own, until 20
//     other connections contradict them (TestWrongFromTheFirstAnswerOn).
//   - It gives the first two responses of all. The bounds are then its own, until
//     two others have outvoted it.
//   - It gives all responses for more than a minute over five connections, or at
//     once over twenty, although each was dialled anew. The bounds are then its own, as if this node
//     had been frozen without noticing (TestAgreementIsGivenUp).
//
// Even then a row is taken for expired only if the response that brought it says
// so too (TestJudgedByTheAnswerLS50 in package dynamolease), and the holder of a
// row that is seen to be renewed is there (TestRenewalsThatAreSeenLS50). So what
// remains is a row that was not looked at before, and that the liar itself brings.
//
// A bound that is off does not yet break exclusion: for that, the
// judge's Earliest must lie beyond the writer's Latest, and between the two are
// the slack and both margins.
//
// # Limits
//
// A Date is not a documented promise of the store's. Where it is absent the time
// is unknown: the node's wall clock counts only if it was chosen. A pause of the
// node that none of its clocks shows makes Latest too early by as much;
// [Bounds.LatestAt] is for finding that out from the date of the very answer
// that a write gets. Either bound may step back
// between calls, as new samples change the vote.
package storeclock
