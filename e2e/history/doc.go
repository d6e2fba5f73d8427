// Package history runs random concurrent operations of several nodes on one table of a real server,
// under faults of the network, of clocks and of the store. It checks the answers that the nodes get
// against the promises of the library.
//
// A history is a few hundred operations of a few nodes, in virtual time. Each node has its own
// client, its own bad path to the server and its own clocks. Two independent checks judge a
// history:
//
//   - Sequential models state what the design promises for each lease, each process identity, and
//     the drain of each node. The calls, with their arguments and answers, must be linearizable by
//     these models. The time is an input of each operation. An attempt whose answer no caller saw
//     is a separate operation.
//   - The [database] notes each row as each request leaves it. Invariants that need no search must
//     hold for these notes and for the beliefs of nodes. No two nodes hold one lease at a time.
//     Epochs and terms grow. Only the holder does fenced work, it does it once, and it builds on
//     what it knew. Nobody closes a session that lives. A lease keeps its checkpoint. An answer
//     agrees with the row.
//
// Each history has a [climate]: troubles that last, beyond the faults of single requests. Some dates
// are false, or one of the store's machines has a wrong clock for minutes. Readings take long. A
// proxy answers in place of the store, or credentials fail. Clocks are slewed. Somebody deletes rows
// by hand. Two processes run under one name. Transactions occupy their rows, and a partition key has
// a limit.
//
// The store's time is the bubble's: it gives the Date of each answer. The test asks the lease
// itself how long a node believes in it, by the node's own clock. It asks at each moment at which a
// belief begins, because two beliefs that ever overlap do so when the later one begins.
//
// All random choices come from the seed of the history: operations, arguments, faults, clocks. Two
// things do not come from the seed: the jitter of the library's retries, and the random ids of its
// rows. So two runs of one seed are identical up to the first repeated request, and similar after
// it.
//
// The environment says how much to run:
//
//	PROOF_LONG=1         the long run: 1,100 histories instead of 120
//	PROOF_HISTORIES=N    run N histories
//	PROOF_DURATION=D     run histories until the time D has passed, such as 10m
//	PROOF_SEED=S         the seed of the first history; each later history adds one
//	PROOF_FIGURES_DIR=P  write the figures of the run to P/history.json
//	PROOF_REAL_TIME=1    also run the history in real time, which is meant for DynamoDB itself
//	                     (DYNAMOLEASE_TEST_AWS=1)
package history
