//go:build unix

package main

import "syscall"

// strike kills the fighter, or stops it.
func (f *fighter) strike(stop bool, say func(string, ...any)) error {
	if stop {
		say("stops the first")
		return f.cmd.Process.Signal(syscall.SIGSTOP)
	}
	say("kills the first")
	return f.cmd.Process.Kill()
}

func (f *fighter) carryOn() error { return f.cmd.Process.Signal(syscall.SIGCONT) }
