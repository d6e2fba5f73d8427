//go:build !unix

package demo

import (
	"errors"
	"syscall"
)

var errNotUnix = errors.New("the demo needs a Unix system: it stops and continues a process with signals")

func supported() error { return errNotUnix }

func (*process) stop() error { return errNotUnix }

func (*process) resume() error { return errNotUnix }

func (*process) killed() bool { return false }

func workerAttributes() *syscall.SysProcAttr { return nil }
