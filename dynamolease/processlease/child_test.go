package processlease_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// How a test tells the child process that it is one, and what it is to be.
const (
	childTable = "PROCESSLEASE_CHILD_TABLE"
	childNode  = "PROCESSLEASE_CHILD_NODE"
)

const childTTL = 600 * time.Millisecond

// childMain is one boot of a node in a process of its own. It says on its standard output, a line each:
//
//	ready                           before anything else; it then waits for a line on its input
//	acquired NANOSECONDS TERM OWNER
//	valid NANOSECONDS               the time before a call of Valid that was true, now and then
//	renewed SEQ
//	invalid NANOSECONDS             Valid is false; the time before the last call that was true
//	late OWNER TERM                 who holds the lease after a last attempt to renew it
//
// It ends when its input does.
func childMain() int {
	if err := runChild(); err != nil {
		fmt.Println("failed", err)
		return 1
	}
	return 0
}

func runChild() error {
	ctx := context.Background()
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return err
	}
	authority, err := processlease.NewAuthority(server.Client(), os.Getenv(childTable), childTTL)
	if err != nil {
		return err
	}
	store, err := authority.Identity(os.Getenv(childNode))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if err := awaitInput(); err != nil {
		return err
	}
	owner := uuid.New()
	out, err := store.Acquire(ctx, owner, time.Minute)
	if err != nil {
		return err
	}
	fmt.Println("acquired", time.Now().UnixNano(), out.Record.Term, owner)
	m, err := processlease.NewManager(ctx, out)
	if err != nil {
		return err
	}
	fmt.Println("invalid", useLease(m))

	// A write of the boot as it was: based on the last record that it wrote. A busy machine may take too long for it.
	for out, err = store.TryAcquire(ctx, owner); errors.Is(err, processlease.ErrIO); {
		out, err = store.TryAcquire(ctx, owner)
	}
	if err != nil {
		return err
	}
	fmt.Println("late", out.Record.Owner, out.Record.Term)
	<-m.Done()
	return nil
}

// awaitInput waits for a line, and ends the process when there are no more.
func awaitInput() error {
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	go func() {
		_, _ = in.ReadString('\n')
		os.Exit(0)
	}()
	return nil
}

// useLease looks at the lease all the time while it is valid. It returns the time before the last look that found it so.
func useLease(m *processlease.Manager) (lastValid int64) {
	var said int64
	var seq uint64
	for {
		before := time.Now().UnixNano()
		if !m.Valid() {
			return lastValid
		}
		lastValid = before
		if lastValid-said > int64(time.Millisecond) {
			fmt.Println("valid", lastValid)
			said = lastValid
		}
		if now := m.Record().Seq; now != seq {
			fmt.Println("renewed", now)
			seq = now
		}
	}
}
