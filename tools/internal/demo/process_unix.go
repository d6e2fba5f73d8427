//go:build unix

package demo

import (
	"fmt"
	"syscall"
)

func supported() error { return nil }

// stop makes the process stand still, as a debugger or a machine that is short of memory does.
func (p *process) stop() error { return p.signal("stop", syscall.SIGSTOP) }

// resume lets a process that was stopped go on.
func (p *process) resume() error { return p.signal("continue", syscall.SIGCONT) }

func (p *process) signal(verb string, sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("%s %s: %w", verb, p.name, err)
	}
	return nil
}

// killed tells whether the process, which has exited, was ended by SIGKILL.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
