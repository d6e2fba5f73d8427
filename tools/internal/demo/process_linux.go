package demo

import "syscall"

// workerAttributes make a worker die with its parent, also a stopped one, and keep a terminal's
// Ctrl-C from it: the parent ends it in its own time.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
