// Package processlease gives the stable identity of a node to one boot of it at a time, in a DynamoDB table, and leaves
// proof when one boot is superseded by another.
//
//	authority, err := processlease.NewAuthority(client, "leases", processlease.DefaultTTL)
//	store, err := authority.StoreFor("writer-1")
//	acquired, err := store.Acquire(ctx, uuid.New(), time.Minute)
//	manager, err := processlease.NewManager(ctx, acquired)
//	defer manager.Close()
//	for manager.Valid() {
//		// Work as writer-1, in term manager.Lease().Term.
//	}
//	return manager.Err() // why it is over
//
// The table is one like [dynamolease.Store.CreateTable] makes, and may be shared with the leases of that package.
//
// A boot is one start of a process, and draws an owner of its own, a random UUID. Who holds the identity is one row, the
// head: owner, term, seq. The term grows with every owner and the seq with every write. A process that starts is given
// the lease if nobody ever had it. Otherwise it watches the head, and takes over from a boot that is dead.
//
// # The safety argument
//
// The table is the authority, and it is asked only one kind of question: is the head still exactly the one that I saw?
// Every write is conditional on that, and names in a random id (rev) which write it was. No clock of one machine is ever
// compared with that of another, or with the store's. Local time is used to measure how long, in three places:
//
//   - A holder believes in its lease until ttl after it began the attempt that last wrote the head. It does not matter when
//     the answer came. An answer that comes after the former deadline is of no use: what is over stays over.
//   - A rival may take over when it has seen the very same head for a full ttl, counted from when it had read it, and
//     then only if the head is that one still.
//   - A call ends when its context does, or its share of the ttl is used up.
//
// The write that left the head began before the rival read it, so the holder's deadline passes before the rival's
// observation is over. If the holder renews meanwhile, the head is another one and the takeover writes nothing. If the
// takeover is first, the renewal writes nothing. This holds however long a request is on its way.
//
// Two mistakes of a clock would break that, and they are opposite ones, so no single clock will do. A holder must not think
// that less time passed than did: it counts with the largest of the monotonic clock, boot time and the wall clock, of
// which the first stands still while the machine is suspended. An observer must not think that more time passed than did,
// or a wall clock that is set forward permits a takeover at once: it counts with the monotonic clock alone. As
// clocks differ in rate, by up to 200 ppm each, an observer waits for 401 ppm more than the ttl; in this package that is
// called a full ttl. And as a fleet may be given another ttl while it runs, the head says which one its holder believes
// in, and an observer waits for the longer of that and its own.
//
//	                      TryAcquire: no head
//	      (no head) ──────────────────────────────────▶ HELD, term 1
//	                                                        │ ▲
//	                          ┌── TryAcquire by the owner ──┤ │
//	                          └────────── seq + 1 ──────────┼─┘
//	                                                        │
//	        ┌───────────────────────────────────────────────┤
//	        │ Manager.Resign: seq + 1                       │ unchanged for a full ttl, as seen by a rival
//	        ▼                                               ▼
//	    RESIGNED ── TryAcquire by another ──▶ one transaction: head with the rival's owner, term + 1, seq + 1;
//	                                          fence by predecessor; fence by successor ──▶ HELD, next term
//
//	Manager:  VALID ── renewal answered before the deadline ──▶ VALID, deadline = start of the attempt + ttl
//	          VALID ── rival seen, deadline passed, Close, Resign, context ended ──▶ OVER, for good
//
// # Fences
//
// A takeover is one transaction of three writes: the head, and the [Fence], last record of the one boot and first of the
// other, under two keys. So there is no takeover without evidence, and no evidence without a takeover. Under the
// predecessor's owner it answers "was this boot superseded?", under the successor's term "how did this term begin?".
// [Authority.FenceIncarnation] makes sure that a boot is superseded and returns that proof, the same one to all who ask.
//
// An owner that was superseded is refused ([ErrSuperseded]), for as long as its fence is in the table. If a boot that lost its
// lease wants it again, it needs a new owner.
//
// # What happens on each failure
//
//   - The holder dies, or is cut off: the next boot takes over a full ttl after it saw the head last change.
//   - An answer is lost: the next attempt of the call, or of the manager, meets the head as the former one left it, knows it by
//     its rev, and counts that as the success that it was, from the start of the former attempt. A later call renews what
//     it meets, since it has to give a whole ttl, and returns the fence that was not returned yet. Where nothing can be
//     found out any more, the error is [dynamolease.ErrUnknownOutcome], never "lost" and never "not acquired".
//   - A request hangs: it ends after a sixth of the ttl, or 2 seconds, and the next one follows. If all of them hang, the
//     lease is over exactly at its deadline, with no request having to return.
//   - A request arrives late, after its sender gave up: the head is another one, and nothing is written. If the head is
//     still that one, the sender has not been superseded, and has believed in less than what it now has.
//   - The process is stopped, or the machine suspended: [Manager.Valid] looks at a clock on each call, and is false from the
//     first one on after the deadline. The manager's own goroutines find out when they wake, and write nothing.
//   - Throttling, conflicts with a transaction, errors of the server: tried again with jitter, for at most half the ttl; by
//     a manager after 250 ms, with the old deadline.
//   - A row is malformed, oversized or another node's: [ErrInvalid] on every path that sees it. It is never taken for a
//     free lease, nor written over.
//   - The head is deleted: [ErrMissing] for those who knew it. A new boot would begin at term 1 again. Do not delete heads;
//     nothing in this package gives one a ttl.
//
// # What is not promised
//
// Valid tells about the moment of the call. Between it and the write that it guards, the process may be stopped for any time.
// Where that matters, let the resource check the term, which only grows, or make the write a transaction with a condition
// on the head.
//
// A pause that no clock of the machine shows (a virtual machine restored from a snapshot, before its clocks are set) cannot
// be seen by the process; its delayed writes of the lease still change nothing. A pause that the wall clock alone shows,
// afterwards, is seen by [Manager.Remaining] at once. Valid sees it at the next renewal where it can count with the
// processor's counter, and at once elsewhere.
//
// Clocks that differ in rate by more than is allowed for, as while one is slewed by thousands of ppm, can have two boots valid
// at once, for as long as they got apart within a ttl. Two processes that use one owner are one boot, to this package.
//
// A table that is replicated with eventual consistency must be used from one Region only. Multi-Region strong
// consistency has no transactions, and takeovers need them.
//
// # What Valid costs
//
// It loads one pointer and reads one clock. On linux/amd64, where the kernel keeps time by the processor's time stamp
// counter, that counter is read directly, which takes about 10 ns; the deadline is translated into ticks at each renewal,
// with a thousandth to spare, and past that the clocks decide. Elsewhere the monotonic and the wall clock are read,
// about 50 ns; with [Options].Elapsed or IgnoreWallClock, those clocks and the short lock within them. A flag that a
// timer clears would take 1 ns, and be wrong after every stop of the process until the timer gets to run.
//
// # From an append-only log of objects
//
// The protocol was first written for object stores, which can create an object if there is none and do little more. There,
// each record is an object of its own whose name holds the next seq, and the one who creates it wins; the newest
// object is the head, found by listing; the evidence is written before the takeover or after; and what is old has to be
// deleted by somebody. Here the head is one row that is updated where it is:
//
//   - "Create the next seq" has become "replace exactly this head", and excludes the same: two writers that build on one
//     record. It excludes more, as it names the write and not only its number.
//   - The head is read by its key, strongly consistent. There is no listing, and no chance to see an older one.
//   - A takeover and its evidence are one transaction. There is no half of it to repair or to complete.
//   - There is no history. What a fence has to remember it holds itself, so nothing has to be kept for it or cleaned, and no
//     renewal waits for cleaning. Only a fence gets old. When a takeover supersedes the term that a fence began, its rows
//     are given a ttl 90 days ahead ([Options].FenceRetention), in the background. The evidence of the
//     current term has none.
//
// Of the limits that the log needed, these are left: a head above 1024 bytes and a fence above 2048 are not ours, and
// a failed renewal is tried again after 250 ms. Those for reading the head anew while it moves (4 times), for records kept (2),
// listed (4096) and deleted (256 at a time, 32 at once, 4 times, every 64 writes, within 5 seconds) have nothing left to
// limit. And its hazards: a boot cannot take over from itself; a lost answer is not a lost lease; one hung request
// does not use up the validity; the clock goes on in a suspend; renewals wait for nothing but their own answer.
//
// # Rows
//
// All rows of a node have the partition key P#node. The head's sort key is HEAD; its attributes are node, owner, term, seq,
// exp (advisory), lasts (the ttl that its owner believes in, in milliseconds), rev, and resigned where it is. A fence is
// there twice, under F#owner of the predecessor and T#term of the successor, with node, predecessor and successor, and ttl
// in time. Each of them fits one write unit, whatever the node's name.
//
// # Costs
//
// A renewal is one request and one write unit, a takeover one request and 6 write units, an observation two reads. A
// program needs dynamodb:GetItem and dynamodb:UpdateItem, which cover the transaction too.
package processlease
