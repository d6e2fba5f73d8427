//go:build unix && !linux

package demo

import "syscall"

// workerAttributes keep a terminal's Ctrl-C from a worker: the parent ends it in its own time. Should the parent die
// without that, the worker ends with its standard input; if it is stopped then, the system lets it go on first, since
// its process group is an orphan.
func workerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
