// Package fleet simulates fleets of coordinators: hundreds of nodes over simulated hours, in virtual time, against a real
// server, in seconds.
//
// A seed makes a [script]: the size of the fleet, its ttl, how its handlers behave, and what happens to it: nodes join,
// leave, crash, start again under their names, are cut off, paused, have clocks that drift and step, lose heartbeats or the
// whole store, get their requests and answers lost. The simulation plays it, and a watch checks all the time that no
// partition is worked twice and that epochs grow. After each event it checks that the fleet is back in balance within
// the promised time, by the fewest moves, and that nothing moves and little is asked in the quiet after it.
//
//	script ──▶ simulation ──▶ nodes (coordinator, store, clock) ──▶ trouble ──▶ gate ──▶ server
//	                │                     │ handlers
//	                └──── rules ◀──── watch ──▶ log, digest
//
// What a seed fixes: the script, which handlers misbehave, which requests meet a fault, and in which order requests of the
// same instant reach the server. What it does not fix is the jitter between the rounds of a node, which the library draws
// for itself; see TestSameSeed for what is equal in two runs of a seed nevertheless.
//
//	go test ./fleet                  fixed seeds, less than a minute
//	PROOF_LONG=1 go test ./fleet     minutes; PROOF_SEED chooses the seed, which the clock does otherwise
//
// With PROOF_FIGURES_DIR set the figures of the run are written to fleet.json in that directory.
package fleet
