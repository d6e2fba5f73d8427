// Command planted shows that the proof suite finds what it is there to find: it plants known bugs into the library, one at
// a time, and runs the suites until one of them fails.
//
// A bug is a file in the folder bugs: a mistake that a maintainer could well make, as text of the library and what to put
// in its place. The tree itself stays as it is: test binaries are built with the changed files laid over it. A bug that
// no suite fails for is a hole in the proof, and one whose text is not in the library any more must be written anew.
//
//	go run ./planted                     all bugs: what is likely to catch each first, then the other suites
//	go run ./planted -fast               only what is likely to catch each
//	go run ./planted -run renew -v       bugs whose name matches, with the output of what caught them
//	go run ./planted -suite short        the short proof alone: histories, fleets, chaos
//
// Each suite has to pass once without any bug before its failures count. It runs with its fixed seed, and until its first
// failing test. A suite that runs out of time has not caught anything, nor has a bug that does not compile.
//
// With PROOF_FIGURES_DIR set the figures of the run are written to planted.json in that directory. The exit status is 1
// if a bug was not caught, and 2 if the bugs could not be tried.
package main
