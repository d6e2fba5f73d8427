// Package function tests the reaper as Lambda runs it: the real executable, under the Runtime
// Interface Emulator, on a real database whose answers a test can make wrong.
package function
