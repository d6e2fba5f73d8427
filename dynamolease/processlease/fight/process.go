package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A fighter is the process of one boot, as the referee sees it.
type fighter struct {
	cmd  *exec.Cmd
	echo io.Writer
	out  *bufio.Scanner
}

// start starts a fighter. echo gets its lines.
func start(ctx context.Context, echo io.Writer, server *dynamotest.Server, table string, ttl time.Duration, name string) (*fighter, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-name", name, "-table", table, "-ttl", ttl.String())
	cmd.Env = append(os.Environ(), fighterEnv+"=1", "DYNAMODB_ENDPOINT="+server.Endpoint())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &fighter{cmd, echo, bufio.NewScanner(out)}, nil
}

// fighterEnv is set in the environment of a fighter, so that a test binary knows that it is one.
const fighterEnv = "PROCESSLEASE_FIGHTER"

// await prints the lines of the fighter, up to one that contains text.
func (f *fighter) await(text string) error {
	for f.out.Scan() {
		fmt.Fprintln(f.echo, f.out.Text())
		if strings.Contains(f.out.Text(), text) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("a process ended before it said %q", text), f.cmd.Wait())
}

// leave asks the fighter to end, and waits until it has ended.
func (f *fighter) leave() error {
	if err := f.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return f.cmd.Wait()
}

// end kills the process if it is still running.
func (f *fighter) end() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}
