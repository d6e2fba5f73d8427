//go:build !linux

package dynamotest

import "syscall"

// childAttributes are the defaults: only Linux can tie the life of a child to that of its parent.
func childAttributes() *syscall.SysProcAttr { return nil }

// lockThread has nothing to do here.
func lockThread() (unlock func()) { return func() {} }
