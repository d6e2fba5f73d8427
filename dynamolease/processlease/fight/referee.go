package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// referee lets two processes fight: the first gets the identity, and the second waits for it.
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

// tables stands in for the test that Server.Table asks for.
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
