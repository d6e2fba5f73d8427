// Package e2e holds the proof suite: histories of random operations under faults, simulated fleets,
// chaos with real processes, and planted bugs that these must catch. It is a separate module, so
// that users of the library do not get its dependencies.
package e2e
