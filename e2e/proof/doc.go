// Command proof runs the suites of the proof, one after the other. It prints one table of their
// work and of the violations that they found.
//
//	go run ./proof             the short run: fixed seeds, about two minutes
//	go run ./proof -long       the long run: seeds from the clock, about eleven minutes
//	go run ./proof -planted    also the planted bugs: the suites must catch each (minutes more)
//	go run ./proof -aws        only the histories, against DynamoDB, with the usual AWS configuration
//
// The exit status is 1 if a suite fails. In that case the last line names a file with the seed and
// with everything that the suites printed. PROOF_SEED=17 go run ./proof -long repeats a run with
// the seed 17.
package main
