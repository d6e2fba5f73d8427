// Package e2e holds the proof suite: histories of random operations under faults, simulated fleets, chaos with real
// processes, and planted bugs that these must catch. It is a module of its own, so that the library's users do not get its
// dependencies.
package e2e
