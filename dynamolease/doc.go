// Package dynamolease keeps leases and membership in one DynamoDB table.
//
// A service on many nodes splits its work into partitions, and each partition must be worked by one
// node at a time. A [Store] decides which node that is: it gives leases (one holder per partition,
// with a fencing epoch) and membership (which nodes are alive, where, and in which groups they take
// part). There is no server to run. Package coordinator puts the two together and runs a handler
// for each partition in exactly one place; most programs need only that.
//
// # Why two nodes never hold one lease
//
// The row in the table is the only authority. Four rules make it one, whatever the clocks of the
// nodes say:
//
//   - Every write is a compare-and-set. Each row carries a random rev, and a write that decides who
//     owns something is conditional on the rev that its writer saw, and leaves a new one. A request
//     that arrives late changes nothing that came after it.
//   - A writer sets the expiry to the latest time that the store's clock may show, plus the ttl. So
//     the lease lasts at least the ttl by the store's clock.
//   - A reader treats another owner's lease as expired only after the earliest time that the
//     store's clock may show. Acquire, Renew, Release, Owners and Members all use this one rule.
//   - A holder never asks what time it is. Its lease is good until ttl after the call that got it
//     began, on the node's own elapsed-time clock, which sees a suspended machine too:
//     [Lease.Remaining]. That moment lies before the expiry that others judge by.
//
// # The store's clock
//
// DynamoDB has no "now" in its expressions, but it puts a Date on every response. The moments at
// which the request went out and the answer came in then bound the difference between its clock and
// this node's. Many answers bound it better, and outvote one that lies. What they once agreed on
// stays: answers over one connection that contradict it do not move it. An answer without the
// request id of DynamoDB does not count at all. The result is always an interval, [Store.Now]. So
// an expired lease can be taken in the first call of a process that has just started, and a node
// whose wall clock is wrong by hours is no danger and no nuisance.
//
// Two different clocks measure time on the node. A holder counts with the clock on which most time
// has passed, so that a pause ends its leases. The age of a Date is measured with the monotonic
// clock as well, so that a wall clock which steps forward does not make other leases look expired.
// If the two disagree by more than a trifle, the store forgets what it knew of the store's clock,
// and the next call reads before it decides.
//
// The time is known once two answers agree, so the first call of a process makes one cheap read
// more.
//
// # Sessions
//
// A lease with an expiry of its own must be renewed by itself. A [Session] is one life of a node,
// and its one heartbeat keeps any number of leases: such a lease names the session's row, and lives
// as long as that row does.
//
//   - A heartbeat is conditional on the row being as it was seen, and is not sent after the
//     session's own end. A session that once expired is never extended; an answer that comes too
//     late does not bring it back.
//   - A node that wants a lease of a session that has surely expired first marks the session's row
//     as over, on condition that it is still the row that was judged. A heartbeat that lands before
//     the mark makes it fail, and the session lives with all its leases; one that lands after it is
//     refused. From then on nothing about the session changes, and each of its leases is a row that
//     anybody takes by a compare-and-set of its own. The mark is written once, whatever the number
//     of leases.
//   - A session is surely dead, too, when a node has seen its row with one and the same rev for the
//     session's ttl and the drift of both clocks, on the node's own clock, counted from the answer
//     that first showed that rev. The heartbeat that left the rev began before, and so did the
//     session's own count. The mark's condition excludes the heartbeat that lands meanwhile.
//   - A session without a row is dead only by a strongly consistent read of that row that was made
//     after the lease's row was read. The session may have opened since any earlier reading of the
//     members.
//   - Apart from that, only the session ends its row: after its work has stopped and its leases are
//     released. [Store.Leave] takes a node off the members, and changes nothing about its leases.
//
// No step of a session needs a transaction. Plain leases and session leases live side by side;
// Acquire and Owners understand both. The row of a lease in a session has no ttl attribute, since
// nothing writes it while the session lives.
//
// # Fenced work
//
// A lease decides which node may work now, and a process can be paused between looking at it and
// writing. [Store.Transact] writes only while nobody else has taken the lease, by a condition on
// the lease's row in the same transaction: no clock is involved. With a checkpoint in it, work that
// moves the checkpoint along with its results is done exactly once. [Lease.Check] is the condition
// alone, for a transaction of your own; for anything outside DynamoDB there is the epoch.
//
// So the row of a lease has two writers with different questions, and each has a chain of its own:
//
//   - Ownership (acquire, extend, release, revoke, take over) is conditional on rev, and leaves a
//     new rev.
//   - Fenced work is conditional on the owner, the epoch, and the id of the fenced write before it
//     (work), and leaves a new work.
//
// Neither refuses the other: a holder that writes checkpoints without pause can be renewed and
// revoked. What a former holder sends late fails on the epoch. The work in the condition is the one
// that came with the caller's checkpoint, never one that was read later. So nothing that was
// computed from one checkpoint is written on top of another, also where two processes share an
// owner's name. An acquisition returns the checkpoint as it was at that very write; no fenced write
// of a former holder lands in between.
//
// # Epochs
//
// An epoch grows by one at every acquisition that is not an extension. If there is no row, because
// the partition is new or the row was deleted, the first epoch is the store's time in milliseconds.
// That is above any epoch of an older row, provided that rows are deleted no sooner than some
// seconds after their last use ([Options.Retention] is an hour at least) and that a partition
// changes hands less than a thousand times a second. So the epoch orders the holders of a partition
// for ever, and is the fencing token for whatever they write to.
//
// # Cleaning up
//
// DynamoDB's TTL deletes a row that is of no use any more, which may take days, or [Store.Reap]
// does, which takes minutes. Reap decides by the same rules as everything else, and by a
// compare-and-set: a row that is live, or that changes while Reap looks, stays. Nothing else in
// this package deletes a row. A row with a checkpoint stays until [Store.Forget], or for
// [Options.CheckpointRetention].
//
// # Lost answers
//
// The SDK's own retries are off in the calls of a Store: a conditional write that is retried
// blindly fails against itself. The store retries above them, each time with a fresh reading of its
// clock and a new rev, accepting the row as it was seen or as a pending write would have left it. A
// refusal brings the row along, so an attempt of ours whose answer was lost is recognised. If the
// outcome stays open, the error is [ErrUnknownOutcome], and never "lost" or "not acquired".
//
// # What happens when
//
//	the answer is lost               the next attempt finds out; at the end, ErrUnknownOutcome
//	a node dies                      its session is marked as over once, and then each lease is taken
//	it was not dead after all        its heartbeat makes the mark fail, or is refused after it
//	the store cannot be reached      leases run out at their own deadline, whether requests return or not
//	a clock is wrong or steps        nothing, or the node's own leases end early
//	the process or machine freezes   its leases have nothing left when it wakes
//	the row is deleted               the holder's next Renew leaves it out; epochs grow all the same
//	a date lies                      it moves nothing; where it shortens a lease it counts against the writer
//	no date comes any more           old ones count on, with wider bounds; without any, calls fail
//	a proxy answers                  a lost answer, whatever it says
//	there are no credentials         nothing is sent; the call tries again, and a node that starts waits
//	a row is malformed               a RowError that names it; it is never read as free
//
// # What is not promised
//
// If a process is paused and no clock on its machine notices, it keeps believing in its leases for
// the length of the pause. So does code that does not look at [Lease.Remaining]. Fence every write
// that must not happen twice. Two processes under one owner name share each other's leases. Global
// tables with eventual consistency must not be used from more than one Region. Tables with
// multi-Region strong consistency have no transactions: AcquireAll, Transact with items,
// [Lease.Check] and Renew by [Transactions] do not work there. DynamoDB refuses a write that meets
// a transaction on the same row: the store tries again, but AcquireAll, and a transaction of your
// own, may lose every time beside a holder that writes without pause.
package dynamolease
