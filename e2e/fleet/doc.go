// Package fleet simulates fleets of coordinators: hundreds of nodes over simulated hours. It runs
// them in virtual time, in seconds, against a real server.
//
// A seed makes a [script]. The script gives the size of the fleet, its ttl, the behaviour of its
// handlers, and a list of events. Nodes join, leave, crash, start again under their names, and lose
// heartbeats or the whole store. The simulation cuts them off, pauses them, drains them, revokes
// their partitions, and loses their requests and answers. Their clocks drift and step. Transactions
// hold their rows for 40 ms, and a partition key takes no more units a second than in DynamoDB.
//
// The simulation plays the script. All the time, a watch checks that no two nodes work one
// partition and that epochs grow. After each event the simulation checks that the fleet is back in
// balance within the promised time, by the fewest moves. In the quiet rounds that follow it checks
// that no partition moves and that the nodes make few requests.
//
//	script ──▶ simulation ──▶ nodes (coordinator, store, clock) ──▶ trouble ──▶ gate ──▶ server
//	                │                     │ handlers
//	                └──── rules ◀──── watch ──▶ log, digest
//
// A seed fixes everything: the script, which handlers misbehave, which requests meet a fault, in
// which order requests of the same instant reach the server, and the jitter of the library. Two
// runs of a seed have the same journal, to the request and the nanosecond. The journal leaves out
// random ids. TestSameSeed checks this. (Rarely, on a busy machine, goroutines of one node that
// wake at the same instant change their order. The outcome of each event is the same even then.)
//
//	go test ./fleet                  fixed seeds, less than a minute
//	PROOF_LONG=1 go test ./fleet     minutes; the seed is PROOF_SEED, or else the time of the clock
//
// If PROOF_FIGURES_DIR is set, the suite writes the figures of the run to fleet.json in that
// directory.
package fleet
