// Package history runs random concurrent operations of several nodes on one table of a real server, under faults of the
// network, of clocks and of the store, and checks what the nodes were told against what the library promises.
//
// A history is some hundred operations of a few nodes, each with its own client, its own bad path to the server and its
// own clocks, in virtual time. It is checked in two ways that know nothing of each other:
//
//   - For each lease, each process identity and each node that is drained or not, the calls with their arguments and answers
//     must be linearizable by a sequential model: what the design promises of it. The time is an input of each operation.
//     Attempts whose answer no caller saw are operations of their own.
//   - The [database] notes each row as it was left by each request. Invariants that need no search are checked on these
//     notes and on what nodes believe: no two hold one lease at a time, epochs and terms grow, fenced work is done once
//     and by the holder, an answer says what the row says.
//
// The store's time is the bubble's: the Date of each answer is made from it. What a node believes is asked of the lease
// itself, by the node's own clock, at each moment at which a belief begins: two that overlap do so then.
//
// Everything that is drawn comes from the seed of the history: operations, arguments, faults, clocks. Not from the seed
// come the jitter of the library's retries and the random ids of its rows. A run of the same seed is therefore the same
// up to the first repeated request, and alike after that.
//
// The environment says how much is run:
//
//	PROOF_LONG=1         the long run: 1,100 histories and not 120
//	PROOF_HISTORIES=N    so many histories
//	PROOF_DURATION=D     histories until D has passed, such as 10m
//	PROOF_SEED=S         the seed of the first history; the others count on from it
//	PROOF_FIGURES_DIR=P  leave the figures of the run in P/history.json
//	PROOF_REAL_TIME=1    run the one history in real time, which otherwise is for DynamoDB itself (DYNAMOLEASE_TEST_AWS=1)
package history
