package dynamotest

import (
	"runtime"
	"syscall"
)

// childAttributes make the server die with us, however we die, and keep a terminal's Ctrl-C from
// ending it before we are done with it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// lockThread keeps the calling goroutine on its thread until the returned function is called:
// Pdeathsig is sent when the thread that forked ends, not the process.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
