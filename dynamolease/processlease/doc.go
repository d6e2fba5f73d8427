// Package processlease gives the stable identity of a node to one boot of it at a time, and
// leaves proof when one boot supersedes another. It is a lock, or a leader election, in a
// DynamoDB table: the boots of one node compete for it, and failover to the next boot needs no
// operator.
//
//	authority, err := processlease.NewAuthority(client, "leases", processlease.DefaultTTL)
//	identity, err := authority.Identity("writer-1")
//	acquired, err := identity.Acquire(ctx, uuid.New(), time.Minute)
//	manager, err := processlease.NewManager(ctx, acquired)
//	defer manager.Close()
//	for manager.Valid() {
//		// Work as writer-1, in term manager.Record().Term.
//	}
//	return manager.Err() // why it is over
//
// The table looks like one that [dynamolease.Store.CreateTable] makes. The leases of that package
// may share it.
//
// A boot is one start of a process. It draws an owner of its own, a random UUID. One row, the head,
// names the boot that holds the identity: owner, term and seq. The term grows with every owner, and
// the seq grows with every write. A process that starts gets the lease if no boot ever had it.
// Otherwise it watches the head, and takes over from a boot that is dead or
// has resigned.
//
// # The safety argument
//
// The table is the authority, and it answers only one kind of question: is the head still exactly
// the one that I saw? Every write is conditional on that, and a random id (rev) in it names the
// write. No clock of one machine is ever compared with a clock of another machine or of the
// store. Local time only measures durations, in three places:
//
//   - A holder believes in its lease until ttl after the start of the attempt that last wrote the
//     head. The time of the answer does not matter. An answer that comes after the former
//     deadline is useless: an end is final.
//   - A rival may take over after it has seen the head unchanged for a full ttl. It counts from a
//     moment after its read of the head. Even then the takeover writes only if the head is still
//     that one.
//   - A call ends when its context ends, or when it has used up its share of the ttl.
//
// The write that left the head began before the rival read it. So the holder's deadline passes
// before the rival's observation ends. If the holder renews meanwhile, the head changes and the
// takeover writes nothing. If the takeover comes first, the renewal writes nothing. This holds
// however long a request is on its way.
//
// Two mistakes of a clock would break this. They are opposite mistakes, so no single clock avoids
// both:
//
//   - A holder must not think that less time has passed than has. So it counts with the largest
//     of the monotonic clock, boot time and the wall clock. The monotonic clock stops while the
//     machine is suspended.
//   - An observer must not think that more time has passed than has. Otherwise a wall clock that
//     is set forward would permit a takeover at once. So it counts with the monotonic clock
//     alone.
//
// Clocks differ in rate, by up to 200 ppm each. So an observer waits for 401 ppm more than the
// ttl; this package calls that a full ttl. The ttl of a fleet may also change while the fleet
// runs. So the head names the ttl that its holder believes in, and an observer waits for the
// longer of that ttl and its own.
//
//	               TryAcquire: no head
//	   (no head) ─────────────────────────▶ HELD, term 1
//	                                           │ ▲
//	             ┌── TryAcquire by the owner ──┤ │
//	             └────────── seq + 1 ──────────┼─┘
//	                                           │
//	       ┌───────────────────────────────────┤
//	       │ Manager.Resign: seq + 1           │ unchanged for a full ttl, as seen by a rival
//	       ▼                                   ▼
//	    RESIGNED ── TryAcquire by another ──▶ one transaction: head with the rival's owner,
//	                                          term + 1, seq + 1; fence by predecessor;
//	                                          fence by successor ──▶ HELD, next term
//
//	Manager:
//	  VALID ── renewal answered before the deadline ──▶ VALID, deadline = start of the attempt + ttl
//	  VALID ── rival seen, deadline passed, Close, Resign, context ended ──▶ OVER, which is final
//
// # Fences
//
// A takeover is one transaction of three writes: the head, and the [Fence] under two keys. The
// fence holds the last record of the former boot and the first record of the new one. So there is
// no takeover without evidence, and no evidence without a takeover. Under the predecessor's
// owner, the fence answers "was this boot superseded?". Under the successor's term, it answers
// "how did this term begin?". [Authority.FenceIncarnation] makes sure that a boot is superseded,
// and returns that proof. Every caller gets one and the same proof.
//
// An owner that was superseded is refused ([ErrSuperseded]) while its fence is in the table. If a
// boot lost its lease and wants it again, it needs a new owner.
//
// # One manager
//
// If two managers could renew one lease, one could resign while the other still believes in it. So
// an [Authority] has one valid [Manager] for an owner, and after [Manager.Resign] none ever again.
// Results share what the authority remembers of their owner; it forgets an owner with the last
// [Result] and Manager of it.
//
// # What happens on each failure
//
//   - The holder dies or is cut off: the next boot takes over a full ttl after it saw the head last
//     change.
//   - An answer is lost: every write of the head is a compare-and-set by the Change of package
//     internal/rowstore. The next attempt of the call, or of the manager, meets the head that the
//     earlier attempt left, and recognizes it by its rev. The earlier attempt then counts as a
//     success, from its own start. A later call renews the head that it meets, because it must
//     give a whole ttl, and returns the fence that the earlier call could not return. If nothing
//     can show any more whether the write was applied, the error is
//     [dynamolease.ErrUnknownOutcome]. It never means "lost", and never "not acquired".
//   - A request hangs: it ends after a sixth of the ttl or after 2 seconds, whichever is shorter,
//     and the next request follows. If all of them hang, the lease ends exactly at its deadline;
//     no request has to return for that.
//   - A request arrives late, after its sender gave up: if the head has changed since, the request
//     writes nothing. If the head has not changed, the sender has not been superseded, and it has
//     believed in less time than it now has.
//   - The process is stopped, or the machine is suspended: [Manager.Valid] reads a clock on each
//     call, and returns false from the first call after the deadline. The manager's own
//     goroutines notice when they wake, and write nothing.
//   - Throttling, errors of the server: the call retries with jitter, for at most half the ttl. A
//     manager retries after 250 ms, with the old deadline.
//   - A write meets a transaction that has locked the head: it wrote nothing, and is tried again after
//     20 to 50 ms, also by a manager. It never counts as a loss.
//   - A row is malformed, oversized or another node's: every path that sees it returns
//     [ErrInvalid]. No path takes it for a free lease or writes over it.
//   - The head is deleted: boots that knew it get [ErrMissing]. A new boot would begin at term 1
//     again, but a superseded one is refused. Do not delete heads. Nothing in this package gives a
//     head a ttl.
//
// # What is not promised
//
// Valid reports on the moment of the call. Between that moment and the write that it guards, the
// process may be stopped for any time. If that matters, let the resource check the term, which only
// grows. Or make the write a transaction with a condition on the head.
//
// If a process is paused and no clock on its machine shows the pause, the process keeps believing
// in its lease for the length of the pause. An example is a virtual machine that is restored from
// a snapshot, before its clocks are set. Its delayed writes of the lease still change nothing. A
// pause that only the wall clock shows, afterwards, is different: Valid and [Manager.Remaining]
// see it at once, unless [Options].IgnoreWallClock is set.
//
// Valid does not read boot time, but Remaining does. That matters only if the wall clock was set
// back in the very span in which the machine was suspended. The manager's own goroutines count
// with boot time, and end the lease when they wake.
//
// If clocks differ in rate by more than 200 ppm each, for example while one is slewed by
// thousands of ppm, two boots can be valid at once, for as long as the clocks drift apart
// within a ttl.
//
// Two processes that use one owner are one boot for this package, and so are two authorities of one
// process: they do not know of each other's managers.
//
// If a table is replicated with eventual consistency, use it from one Region only. A table with
// multi-Region strong consistency has no transactions, and takeovers need transactions.
//
// # What Valid costs
//
// Valid loads one pointer and reads the wall clock and the monotonic clock: about 50 ns. With
// [Options].Elapsed or IgnoreWallClock, it reads the clocks that those options choose, under the
// short lock within them; on Linux, the system's clocks then include boot time, which takes a
// system call. A flag that a timer clears would cost 1 ns. But after every stop of the process,
// such a flag would be wrong until the timer runs.
//
// # From an append-only log of objects
//
// The protocol was first written for object stores. They can create an object if there is none,
// and do little more. There, each record is an object of its own, whose name holds the next seq.
// The writer that creates it wins. The newest object is the head, and a reader finds it by a
// listing. The evidence is written before the takeover or after it. Somebody has to delete old
// objects. Here, the head is one row that is updated in place:
//
//   - "Create the next seq" is now "replace exactly this head". Both exclude two writers that
//     build on one record. The latter excludes more, because it names the write and not only its
//     number.
//   - The head is read by its key, strongly consistent. There is no listing, and no way to see an
//     older head.
//   - A takeover and its evidence are one transaction. It is never half done, so nothing has to
//     repair or complete it.
//   - There is no history. A fence itself holds all that it has to remember. So nothing else is
//     kept or cleaned for it, and no renewal waits for cleaning. Only fences become old. When a
//     takeover supersedes the term that a fence began, a background task gives the fence's rows a
//     ttl 90 days ahead ([Options].FenceRetention). The evidence of the current term has no ttl.
//
// Two kinds of limits of the log remain: a head above 1024 bytes and a fence above 2048 bytes are
// not ours, and a failed renewal is retried after 250 ms. The limits on these have nothing left
// to limit: reads of the head while it moves (4 times), records kept (2), listed (4096) and
// deleted (256 at a time, 32 at once, 4 times, every 64 writes, within 5 seconds). The hazards of
// the log are excluded here too: a boot cannot take over from itself; a lost answer is not a lost
// lease; one hung request does not use up the validity; the clock goes on in a suspend; renewals
// wait for nothing but their own answer.
//
// # Rows
//
// All rows of a node have the partition key P#node. The head's sort key is HEAD. Its attributes
// are node, owner, term, seq, exp (advisory), lasts (the ttl that its owner believes in, in
// milliseconds), rev, and, after a resignation, resigned. A fence has two rows, under F#owner of
// the predecessor and T#term of the successor, with node, predecessor, successor, and later ttl.
// Each row fits into one write unit, whatever the node's name.
//
// # Costs
//
// The first acquisition of a node costs two reads and one write unit. A renewal costs one request and
// one write unit. A takeover costs one request and 6 write units.
// An observation costs two reads. A program needs dynamodb:GetItem and dynamodb:UpdateItem, which
// cover the transaction too.
package processlease
