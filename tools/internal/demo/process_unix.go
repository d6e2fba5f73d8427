//go:build unix

package demo

import (
	"fmt"
	"syscall"
)

func supported() error { return nil }

// stop makes the process stand still, like a debugger or a machine that is short of memory.
func (p *process) stop() error { return p.signal("stop", syscall.SIGSTOP) }

// resume continues a stopped process.
func (p *process) resume() error { return p.signal("continue", syscall.SIGCONT) }

func (p *process) signal(verb string, sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("%s %s: %w", verb, p.name, err)
	}
	return nil
}

// killed reports whether SIGKILL ended the process, which has exited.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
