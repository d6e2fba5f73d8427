// Package function holds tests of the reaper as Lambda runs it: the real executable, under the Runtime Interface Emulator,
// on a real database whose answers go wrong as a test wants it.
package function
