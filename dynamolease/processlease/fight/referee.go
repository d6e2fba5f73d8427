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

// referee lets two processes fight: the first one gets the identity, the second one waits for it.
func referee(ctx context.Context, out io.Writer, stop bool, ttl time.Duration) (err error) {
	say := func(format string, args ...any) { fmt.Fprintf(out, "referee: "+format+"\n", args...) }
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return err
	}
	var tables tables
	defer func() {
		tables.clean()
		if closeErr := server.Close(); err == nil {
			err = closeErr
		}
	}()
	table := server.Table(&tables)
	if tables.err != nil {
		return tables.err
	}

	first, err := start(ctx, out, server, table, ttl, "first")
	if err != nil {
		return err
	}
	defer first.end()
	if err := first.await("works"); err != nil {
		return err
	}
	second, err := start(ctx, out, server, table, ttl, "second")
	if err != nil {
		return err
	}
	defer second.end()
	if err := second.await("wants"); err != nil {
		return err
	}
	if err := first.strike(stop, say); err != nil {
		return err
	}
	if err := second.await("works"); err != nil {
		return err
	}
	if stop {
		say("continues the first")
		if err := first.carryOn(); err != nil {
			return err
		}
		if err := first.await("delayed write"); err != nil {
			return err
		}
	}
	say("asks the second to leave")
	return second.leave()
}

// A fighter is a process that fights.
type fighter struct {
	cmd  *exec.Cmd
	echo io.Writer
	out  *bufio.Scanner
}

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

// fighterEnv tells a test binary that it is a fighter.
const fighterEnv = "PROCESSLEASE_FIGHTER"

// await repeats what the fighter says, up to a line that has this in it.
func (f *fighter) await(text string) error {
	for f.out.Scan() {
		fmt.Fprintln(f.echo, f.out.Text())
		if strings.Contains(f.out.Text(), text) {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("a process ended before it said %q", text), f.cmd.Wait())
}

// leave asks the fighter to end and waits until it has.
func (f *fighter) leave() error {
	if err := f.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return f.cmd.Wait()
}

// end makes sure that the process is gone.
func (f *fighter) end() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// tables is what Server.Table needs of a test.
type tables struct {
	err     error
	cleanup []func()
}

func (t *tables) Helper()                           {}
func (t *tables) Name() string                      { return "fight" }
func (t *tables) Logf(string, ...any)               {}
func (t *tables) Fatalf(format string, args ...any) { t.err = fmt.Errorf(format, args...) }
func (t *tables) Cleanup(f func())                  { t.cleanup = append(t.cleanup, f) }

func (t *tables) clean() {
	for _, f := range t.cleanup {
		f()
	}
}
