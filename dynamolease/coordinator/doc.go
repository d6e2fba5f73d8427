// Package coordinator runs each partition of a service in exactly one place.
//
// Nodes call [Run] with a handler and a number of partitions. Each node opens a session in the
// service's table ([dynamolease.Store.OpenSession]), reads the other members, works out its fair
// share of all groups together, gives up partitions beyond it, and takes free ones. A handler runs
// for each partition that the node owns; its context ends when the node does not own the partition
// any more.
//
// With leases in the session, the steady state costs one write and one read of the members for
// each node and round, whatever the number of partitions. A node reads the owners when it has a
// reason to. Without a reason it reads them seldom (a resync), the more seldom the more that costs:
// it adds a few hundredths to the read units. While a lease is held by a node that does not signal,
// such as a program without a coordinator, or a node that has left the members and still drains, it
// reads them each 10 to 30 rounds.
//
// # Why a partition never runs twice
//
// A handler runs only under a live lease, and a lease has one holder (see package dynamolease).
//
//   - A partition is released only after its handler has returned, or the drain timeout has passed.
//     The next owner's handler starts after that, with a greater epoch.
//   - When the lease runs out, the handler's context ends at that moment, by the node's own clock; no
//     request has to return. No other node can have the partition before.
//   - The heartbeat waits for nothing: not for handlers, and not for requests that plan.
//   - A process that was suspended finds that its lease has nothing left before its timers have run:
//     [Assignment.Remaining].
//
// One danger is left: a handler that goes on after its context has ended, beyond the drain timeout
// or after a loss. Fence what it writes, with [dynamolease.Store.Transact] or with the lease's
// epoch.
//
// # A round
//
//	heartbeat ───────── every interval, by itself
//	members ─────────── newer process of this node? hand over, stop: ErrReplaced
//	for each group:
//	  claim ─────────── once in each session: another service's? take nothing, say so
//	  refresh policy ── sessions changed; something came free that we lack, or that nobody takes; a resync
//	  owners ────────── taken from us: lost; ours, but not run: released
//	shares ──────────── of all groups together: a function of members and owners
//	for each group:
//	  plan ──────────── a function of its shares, members, owners and what runs here
//	  give ──────────── context ends (revoked) ─▶ handler returns ─▶ release
//	  take ──────────── acquire ─▶ handler starts
//
// # Looks between rounds
//
// A node looks at the members each interval, which is a round, and in between when there is a reason:
//
//   - At the moment when it becomes certain that a session is over, by the store's clock or because
//     its row has stood still, it looks, and takes what the session had.
//   - A node that gives something up sends a heartbeat at once, which says so, and at most
//     one of these a second. A node that lacks partitions while others give some up looks once a second.
//   - With hints (package hint) nodes tell each other to look now, and [Config].Look has a node look more
//     often in any case.
//
// A look in between is eventually consistent and decides nothing by absence: what follows are
// conditional writes, on top of the rows that the look saw. After a change a node reads the owners of a
// group two or three times. Where the nodes together would read more than 2,000 units a second of the
// group's key, they spread their looks: over N x P / 130,000 seconds for N nodes and P partitions.
//
// # What happens when
//
//	a node joins               nodes above their share give up partitions in their next round; it takes
//	                           them within two seconds
//	a node stops in order      it leaves the members at once; each partition is free when its handler
//	                           has returned, and other nodes take it in their next look, or at once
//	                           with hints: package hint
//	a node crashes             its session is over after the ttl, counted from its last heartbeat, and at
//	                           most two to three seconds later other nodes are certain and take over
//	nodes start together       they wait for each other for a second, and then share
//	the store is unreachable   contexts end when the leases run out; when the store is back, the node
//	                           opens another session
//	a node comes back that was cut off, and has a successor under its name
//	                           it finds the successor among the members, hands over, and stops
//	another service has a group of that name, and nodes that take part in it
//	                           the node takes nothing of it, and says so
//	a permission is missing    Run fails at the start if the node cannot work; what only a takeover
//	                           needs is told
//	a node is taken off the    it goes on with its work, and is a member again with its next heartbeat
//	members, and lives
//	a handler fails, panics    it is called again, after a delay that grows from 1 second to 1 minute;
//	                           after some failures in a row Health names it
//	a handler ignores its end  it holds up its own partition, for the drain timeout; then State and
//	                           Health name it
//	a hook, the log handler    nothing waits for it; what it holds up is left out, and counted
//	never returns
//	a node does not take a partition of its share
//	                           after some rounds, any node takes it
//	a node excludes partitions, or knows fewer
//	                           the others take them at once, and it has others in their place where it can
//	nodes have different numbers of partitions
//	                           each works those that it knows, and says so: [GroupState.OtherCounts]
//
// [State] lists each partition that should be worked and is not, with since when and why, as far as
// this node knows. The causes of contexts say why a lease was lost: see [dynamolease.LossError].
package coordinator
