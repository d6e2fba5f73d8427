//go:build !unix

package main

import "errors"

// strike kills the fighter.
func (f *fighter) strike(stop bool, say func(string, ...any)) error {
	if stop {
		return errors.ErrUnsupported
	}
	say("kills the first")
	return f.cmd.Process.Kill()
}

func (f *fighter) carryOn() error { return errors.ErrUnsupported }
