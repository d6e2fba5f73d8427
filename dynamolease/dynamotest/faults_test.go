package dynamotest_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// deadline is that of every request here. Only the faults that hang reach it.
const deadline = time.Second

func isNil(err error) bool      { return err == nil }
func isReset(err error) bool    { return errors.Is(err, syscall.ECONNRESET) }
func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func isAPI(code string) func(error) bool {
	return func(err error) bool {
		var api smithy.APIError
		return errors.As(err, &api) && api.ErrorCode() == code
	}
}

// is matches the SDK's modelled error type E.
func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// TestFaults asserts what each fault does to the row and what the SDK makes of it, both in real time
// and in a bubble.
func TestFaults(t *testing.T) {
	never := make(chan struct{})
	cases := []struct {
		name    string
		fault   func() dynamotest.Fault
		applied int
		seen    func(error) bool
		slow    bool // reaches the deadline: in virtual time only
	}{
		{name: "LoseRequest", fault: dynamotest.LoseRequest, applied: 0, seen: isReset},
		{name: "LoseResponse", fault: dynamotest.LoseResponse, applied: 1, seen: isReset},
		{name: "Hang", fault: dynamotest.Hang, applied: 0, seen: isDeadline, slow: true},
		{name: "HangAfter", fault: dynamotest.HangAfter, applied: 1, seen: isDeadline, slow: true},
		{name: "Twice", fault: dynamotest.Twice, applied: 2, seen: isNil},
		{name: "Delay", fault: func() dynamotest.Fault { return dynamotest.Delay(deadline / 20) }, applied: 1, seen: isNil},
		{name: "Delay too long", fault: func() dynamotest.Fault { return dynamotest.Delay(2 * deadline) }, applied: 0, seen: isDeadline, slow: true},
		{name: "DelayResponse", fault: func() dynamotest.Fault { return dynamotest.DelayResponse(deadline / 20) }, applied: 1, seen: isNil},
		{name: "DelayResponse too long", fault: func() dynamotest.Fault { return dynamotest.DelayResponse(2 * deadline) }, applied: 1, seen: isDeadline, slow: true},
		{name: "Late never", fault: func() dynamotest.Fault { return dynamotest.Late(never) }, applied: 0, seen: isReset},
		{name: "Around", fault: func() dynamotest.Fault { return dynamotest.Around(nil, nil) }, applied: 1, seen: isNil},
		{name: "All of none", fault: func() dynamotest.Fault { return dynamotest.All() }, applied: 1, seen: isNil},
		{name: "All in order", fault: func() dynamotest.Fault {
			return dynamotest.All(dynamotest.LoseResponse(), dynamotest.Twice())
		}, applied: 2, seen: isReset},

		{name: "Throttle", fault: dynamotest.Throttle, seen: is[*types.ProvisionedThroughputExceededException]},
		{name: "Conflict", fault: dynamotest.Conflict, seen: is[*types.TransactionConflictException]},
		{name: "ServerError 500", fault: func() dynamotest.Fault { return dynamotest.ServerError(500) }, seen: is[*types.InternalServerError]},
		{name: "ServerError 503", fault: func() dynamotest.Fault { return dynamotest.ServerError(503) }, seen: isAPI("ServiceUnavailable")},
		{name: "AccessDenied", fault: dynamotest.AccessDenied, seen: isAPI("AccessDeniedException")},
		{name: "Reply", fault: func() dynamotest.Fault {
			return dynamotest.Reply(400, "ResourceNotFoundException", "gone")
		}, seen: is[*types.ResourceNotFoundException]},
	}
	s := server(t)
	table := s.Table(t)
	for _, c := range cases {
		check := func(t *testing.T, transport *dynamotest.Transport) {
			defer transport.Close()
			client := transport.Client(noRetries)
			transport.Next("UpdateItem", c.fault())
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			if err := add(ctx, client, table, t.Name()); !c.seen(err) {
				t.Errorf("the client sees: %v", err)
			}
			if got := transport.Count("UpdateItem"); got != 1 {
				t.Errorf("attempts: got %d, want 1", got)
			}
			if got := count(t, client, table, t.Name()); got != c.applied {
				t.Errorf("applied: got %d, want %d", got, c.applied)
			}
		}
		if !c.slow {
			t.Run(c.name+"/real", func(t *testing.T) { check(t, s.Transport()) })
		}
		t.Run(c.name+"/virtual", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { check(t, s.VirtualTransport()) })
		})
	}
}

func TestResetIsANetworkError(t *testing.T) {
	s := server(t)
	transport := s.Transport()
	defer transport.Close()
	transport.Next("", dynamotest.LoseRequest())
	err := add(t.Context(), transport.Client(noRetries), "unused", "row")
	if op, ok := errors.AsType[*net.OpError](err); !ok || op.Timeout() {
		t.Fatalf("got %v, want a net.OpError that is no timeout", err)
	}
}

func TestCancelledGivesReasonsInOrder(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	transport.Next("TransactWriteItems", dynamotest.Cancelled("None", "TransactionConflict"))
	err := addTogether(t.Context(), client, table, "a", "b")
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		t.Fatalf("got %v, want TransactionCanceledException", err)
	}
	var codes []string
	for _, reason := range cancelled.CancellationReasons {
		codes = append(codes, *reason.Code)
	}
	if len(codes) != 2 || codes[0] != "None" || codes[1] != "TransactionConflict" {
		t.Errorf("reasons: got %q", codes)
	}
	if a, b := count(t, client, table, "a"), count(t, client, table, "b"); a != 0 || b != 0 {
		t.Errorf("applied: got %d and %d, want not at all", a, b)
	}
}

// TestLateArrivesAfterGivingUp has a request applied after its client was told that it failed, and after
// a later request: the writes are not in the order in which they were sent.
func TestLateArrivesAfterGivingUp(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		client := transport.Client(noRetries)
		deliver := make(chan struct{})
		transport.Next("UpdateItem", dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		start := time.Now()
		if err := add(ctx, client, table, "row"); !isDeadline(err) {
			t.Errorf("the client sees: %v", err)
		}
		if took := time.Since(start); took != deadline {
			t.Errorf("gave up after %v, want %v", took, deadline)
		}
		if got := count(t, client, table, "row"); got != 0 {
			t.Errorf("applied before delivery: %d", got)
		}
		close(deliver)
		transport.Close() // waits for it
		reader := s.VirtualTransport()
		defer reader.Close()
		if got := count(t, reader.Client(), table, "row"); got != 1 {
			t.Errorf("applied after delivery: got %d, want 1", got)
		}
	})
}

func TestDoorHoldsUntilReleased(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	door := dynamotest.NewDoor()
	transport.Next("UpdateItem", door.Hold)
	held := make(chan error, 1)
	go func() { held <- add(t.Context(), client, table, "row") }()
	<-door.Arrived()
	if got := count(t, client, table, "row"); got != 0 {
		t.Errorf("applied while held: %d", got)
	}
	door.Release()
	door.Release()
	if err := <-held; err != nil {
		t.Error(err)
	}
	if got := count(t, client, table, "row"); got != 1 {
		t.Errorf("applied after release: got %d, want 1", got)
	}
}

func TestAroundRunsBeforeAndAfter(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := s.Client(noRetries)
	var before, after int
	transport.Next("UpdateItem", dynamotest.Around(
		func() { before = count(t, client, table, "row") },
		func() { after = count(t, client, table, "row") },
	))
	if err := add(t.Context(), transport.Client(noRetries), table, "row"); err != nil {
		t.Fatal(err)
	}
	if before != 0 || after != 1 {
		t.Errorf("got %d before and %d after, want 0 and 1", before, after)
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s := server(t)
	transport := s.Transport()
	arrived := make(chan struct{})
	transport.Next("", dynamotest.All(dynamotest.Around(func() { close(arrived) }, nil), dynamotest.Hang()))
	hung := make(chan error, 1)
	client := transport.Client(noRetries)
	go func() { hung <- add(context.Background(), client, "unused", "row") }()
	<-arrived
	transport.Close()
	transport.Close()
	if err := <-hung; err == nil {
		t.Error("a hanging request succeeded")
	}
	if err := add(t.Context(), client, "unused", "row"); err == nil {
		t.Error("a request after Close succeeded")
	}
}
