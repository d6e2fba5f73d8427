// Package fleet simulates fleets of coordinators: hundreds of nodes over simulated hours, in virtual time, against a real
// server, in seconds.
//
// A seed makes a [script]: the size of the fleet, its ttl, how its handlers behave, and what happens to it: nodes join,
// leave, crash, start again under their names, are cut off, paused, have clocks that drift and step, lose heartbeats or the
// whole store, get their requests and answers lost, are drained, and have partitions revoked. The simulation plays it, and a watch checks all the time that no
// partition is worked twice and that epochs grow. After each event it checks that the fleet is back in balance within
// the promised time, by the fewest moves, and that nothing moves and little is asked in the quiet after it.
//
//	script ──▶ simulation ──▶ nodes (coordinator, store, clock) ──▶ trouble ──▶ gate ──▶ server
//	                │                     │ handlers
//	                └──── rules ◀──── watch ──▶ log, digest
//
// A seed fixes all of it: the script, which handlers misbehave, which requests meet a fault, in which order requests of the
// same instant reach the server, and the jitter of the library. Two runs of a seed have the same journal, to the request and
// the nanosecond; ids that are random are not in it. TestSameSeed sees to that. (Rarely, on a machine that is busy, goroutines
// of one node that wake at the same instant change their order; what comes of each event is the same then, too.)
//
//	go test ./fleet                  fixed seeds, less than a minute
//	PROOF_LONG=1 go test ./fleet     minutes; PROOF_SEED chooses the seed, which the clock does otherwise
//
// With PROOF_FIGURES_DIR set the figures of the run are written to fleet.json in that directory.
package fleet
