//go:build unix && !linux

package demo

import "syscall"

// workerAttributes keep a terminal's Ctrl-C from a worker: the parent ends it in its own time. If
// the parent dies first, the worker ends with its standard input. The system continues a stopped
// one then, because its process group is an orphan.
func workerAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
