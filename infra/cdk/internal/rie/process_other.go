//go:build !linux

package rie

import (
	"errors"
	"syscall"
)

// attributes are the least: only Linux can tie the life of a child to that of its parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lockThread has nothing to do here.
func lockThread() (unlock func()) { return func() {} }

// childrenOf cannot tell.
func childrenOf(int) ([]int, error) {
	return nil, errors.New("the processes of the function can be found on Linux only")
}
