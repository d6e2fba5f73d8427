package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
)

// A family is a test binary and all processes that it starts, in whatever process groups and
// sessions they are. They inherit an environment variable that no other process has.
type family struct {
	cmd  *exec.Cmd
	mark string
}

const familyVariable = "PLANTED_FAMILY"

var families atomic.Int64

// newFamily marks a command. Call it before the command starts, and before you add more to its
// environment.
func newFamily(cmd *exec.Cmd) *family {
	f := &family{cmd, fmt.Sprintf("%s=%d.%d", familyVariable, os.Getpid(), families.Add(1))}
	cmd.Env = append(cmd.Env, f.mark)
	return f
}

// end kills the family. It returns no error if the family has already ended.
func (f *family) end() error {
	var err error
	if f.cmd.Process != nil {
		if err = f.cmd.Process.Kill(); errors.Is(err, os.ErrProcessDone) {
			err = nil
		}
	}
	return errors.Join(err, killMarked(f.mark))
}
