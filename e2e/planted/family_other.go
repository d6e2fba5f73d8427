//go:build !linux

package main

// killMarked has nothing to go by here: the tests' own clean-up has to do.
func killMarked(string) error { return nil }
