//go:build !linux

package rie

import (
	"errors"
	"syscall"
)

// attributes returns the minimum: only Linux can tie the life of a child to that of its parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lockThread does nothing here.
func lockThread() (unlock func()) { return func() {} }

// childrenOf always fails here.
func childrenOf(int) ([]int, error) {
	return nil, errors.New("the processes of the function can be found on Linux only")
}
