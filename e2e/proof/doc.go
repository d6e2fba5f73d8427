// Command proof runs the suites of the proof, one after the other, and prints one table of what they did and found.
//
//	go run ./proof             the short run: fixed seeds, some two minutes
//	go run ./proof -long       the long run: seeds from the clock, some eleven minutes
//	go run ./proof -planted    the planted bugs as well: each has to be caught (minutes more)
//	go run ./proof -aws        the histories alone, against DynamoDB itself, with the usual AWS configuration
//
// The exit status is 1 if a suite fails. Then the last line names a file with all that the suites printed, and the seed:
// PROOF_SEED=17 go run ./proof -long repeats such a run.
package main
