// Command planted shows that the proof suite finds bugs. It plants known bugs into the library, one
// at a time, and runs the suites until one of them fails.
//
// Each bug is a file in the folder bugs. It describes a mistake that a maintainer could make, as
// text of the library and the text that replaces it. The command does not change the tree: it
// builds test binaries with the changed files laid over it. If no suite fails for a bug, the proof
// has a hole. If the library no longer contains the text of a bug, somebody must rewrite the bug.
//
//	go run ./planted                     all bugs: first the likely tests, then the other suites
//	go run ./planted -fast               all bugs: only the likely tests
//	go run ./planted -run renew -v       bugs with this name, with the output of the failing run
//	go run ./planted -suite short        only the short proof: histories, fleets, chaos
//
// Each suite must pass once without any bug before its failures count. It runs with its fixed seed,
// and until its first failing test. A suite that runs out of time has not caught the bug. A bug
// that does not compile does not count as caught either.
//
// If PROOF_FIGURES_DIR is set, the command writes the figures of the run to planted.json in that
// directory. The exit status is 1 if the suites missed a bug, and 2 if the command could not try
// the bugs.
package main
