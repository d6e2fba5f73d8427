package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const hold = 40 * time.Millisecond

// An access is a request of one row.
type access struct {
	name  string
	do    func(ctx context.Context, c *dynamodb.Client, table, row string) error
	met   func(error) bool // what it meets while a transaction holds the row
	full  func(error) bool // what it meets when the row's key has no units left
	each  float64          // its units, of a row of up to 1 KB
	write bool
}

// accesses are all operations that contend.
func accesses() []access {
	conflict, throttled := is[*types.TransactionConflictException], is[*types.ThrottlingException]
	list := []access{
		{"UpdateItem", add, conflict, throttled, 1, true},
		{"PutItem", put, conflict, throttled, 1, true},
		{"DeleteItem", remove, conflict, throttled, 1, true},
		{"GetItem consistent", get(true), isNil, throttled, 1, false},
		{"GetItem", get(false), isNil, throttled, 0.5, false},
		{"Query consistent", query(true), isNil, throttled, 1, false},
		{"Query", query(false), isNil, throttled, 0.5, false},
		{"TransactGetItems", getTogether, reasons("TransactionConflict"), reasons("ThrottlingError"), 2, false},
	}
	for kind := range actions {
		list = append(list, access{"TransactWriteItems of " + kind, transact(kind), reasons("TransactionConflict"), reasons("ThrottlingError"), 2, true})
	}
	return list
}

// actions are those of a transaction.
var actions = map[string]func(table, row string) types.TransactWriteItem{
	"Update": func(table, row string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &table, Key: key(row), UpdateExpression: aws.String("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		}}
	},
	"Put": func(table, row string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: key(row)}}
	},
	"Delete": func(table, row string) types.TransactWriteItem {
		return types.TransactWriteItem{Delete: &types.Delete{TableName: &table, Key: key(row)}}
	},
	"ConditionCheck": func(table, row string) types.TransactWriteItem {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &table, Key: key(row), ConditionExpression: aws.String("attribute_not_exists(nothing)"),
		}}
	},
}

func transact(kind string) func(context.Context, *dynamodb.Client, string, string) error {
	return func(ctx context.Context, c *dynamodb.Client, table, row string) error {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{actions[kind](table, row)}})
		return err
	}
}

func put(ctx context.Context, c *dynamodb.Client, table, row string) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: key(row)})
	return err
}

func remove(ctx context.Context, c *dynamodb.Client, table, row string) error {
	_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key(row)})
	return err
}

func get(consistent bool) func(context.Context, *dynamodb.Client, string, string) error {
	return func(ctx context.Context, c *dynamodb.Client, table, row string) error {
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key(row), ConsistentRead: &consistent})
		return err
	}
}

func query(consistent bool) func(context.Context, *dynamodb.Client, string, string) error {
	return func(ctx context.Context, c *dynamodb.Client, table, row string) error {
		_, err := c.Query(ctx, &dynamodb.QueryInput{
			TableName: &table, ConsistentRead: &consistent, KeyConditionExpression: aws.String("#key = :key"),
			ExpressionAttributeNames:  map[string]string{"#key": "pk"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":key": &types.AttributeValueMemberS{Value: row}},
		})
		return err
	}
}

func getTogether(ctx context.Context, c *dynamodb.Client, table, row string) error {
	_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: &table, Key: key(row)}}},
	})
	return err
}

// reasons matches a cancelled transaction by the codes of its reasons.
func reasons(want ...string) func(error) bool {
	return func(err error) bool {
		cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return false
		}
		var codes []string
		for _, reason := range cancelled.CancellationReasons {
			codes = append(codes, *reason.Code)
		}
		return slices.Equal(codes, want)
	}
}

// contending returns a table whose requests hinder each other.
func contending(t *testing.T, s *dynamotest.Server, c dynamotest.Contention) string {
	t.Helper()
	if s.Endpoint() == "" {
		t.Skip("DynamoDB does this itself")
	}
	table := s.Table(t)
	s.Contend(table, c)
	return table
}

// While each kind of transaction holds a row, each operation is refused or served as in DynamoDB, from
// any Transport, and then served. Another row is free.
func TestTransactionsHoldTheirRows(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold})
	for kind := range actions {
		for _, a := range accesses() {
			t.Run(kind+" and "+a.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					mine, theirs := s.VirtualTransport(), s.VirtualTransport()
					defer mine.Close()
					defer theirs.Close()
					began, row := time.Now(), t.Name()
					answered := make(chan time.Duration)
					go func() {
						if err := transact(kind)(t.Context(), mine.Client(noRetries), table, row); err != nil {
							t.Error(err)
						}
						answered <- time.Since(began)
					}()
					for _, after := range []time.Duration{0, hold - 1} {
						time.Sleep(after - time.Since(began))
						synctest.Wait()
						if err := a.do(t.Context(), theirs.Client(noRetries), table, row); !a.met(err) {
							t.Errorf("after %v: %v", after, err)
						}
						if err := get(true)(t.Context(), theirs.Client(noRetries), table, row+" other"); err != nil {
							t.Errorf("another row: %v", err)
						}
					}
					if took := <-answered; took != hold {
						t.Errorf("the transaction took %v, want %v", took, hold)
					}
					if err := a.do(t.Context(), theirs.Client(noRetries), table, row); err != nil {
						t.Errorf("after the hold: %v", err)
					}
				})
			})
		}
	}
}

// In real time, too, and from a Transport in a bubble: the rows are the table's.
func TestTransactionsHoldTheirRowsInRealTime(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: time.Hour})
	transport := s.Transport()
	client := transport.Client(noRetries)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- addTogether(ctx, client, table, "row") }()
	for s.Usage(table).Requests == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, a := range accesses() {
		if err := a.do(t.Context(), client, table, "row"); !a.met(err) {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := add(t.Context(), client, table, "row"); !is[*types.TransactionConflictException](err) {
		t.Errorf("the hold ended with its client: %v", err)
	}
	transport.Close()
}

// A client that gives up does not undo the transaction, nor end its hold.
func TestHoldOfATransactionThatWasGivenUp(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		ctx, cancel := context.WithTimeout(t.Context(), hold/4)
		defer cancel()
		if err := addTogether(ctx, client, table, "row"); !isDeadline(err) {
			t.Errorf("the client sees: %v", err)
		}
		if err := add(t.Context(), client, table, "row"); !is[*types.TransactionConflictException](err) {
			t.Errorf("while it goes on: %v", err)
		}
		time.Sleep(hold)
		if err := add(t.Context(), client, table, "row"); err != nil {
			t.Error(err)
		}
		if got := count(t, client, table, "row"); got != 2 {
			t.Errorf("applied %d times, want 2", got)
		}
	})
}

// A transaction names the rows that are held, and holds none of its others when it is refused.
func TestConflictNamesTheRow(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		go func() { _ = addTogether(t.Context(), client, table, "b", "d") }()
		synctest.Wait()
		if err := addTogether(t.Context(), client, table, "a", "b", "c", "d"); !reasons("None", "TransactionConflict", "None", "TransactionConflict")(err) {
			t.Error(err)
		}
		for _, row := range []string{"a", "c"} {
			if err := add(t.Context(), client, table, row); err != nil {
				t.Errorf("%s: %v", row, err)
			}
		}
		time.Sleep(hold)
		for row, want := range map[string]int{"a": 1, "b": 1, "c": 1, "d": 1} {
			if got := count(t, client, table, row); got != want {
				t.Errorf("%s: applied %d times, want %d", row, got, want)
			}
		}
		if got := s.Usage(table); got.Conflicts != 1 {
			t.Errorf("%+v, want one conflict", got)
		}
	})
}

// The same token twice is one transaction: under way it is in progress, and later it is done.
func TestRepeatedTransaction(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		send := func() error {
			_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{actions["Update"](table, "row")}, ClientRequestToken: aws.String(strings.TrimPrefix(table, "dynamolease-test-")),
			})
			return err
		}
		first := make(chan error)
		go func() { first <- send() }()
		synctest.Wait()
		if err := send(); !is[*types.TransactionInProgressException](err) {
			t.Errorf("under way: %v", err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		go func() { first <- addTogether(t.Context(), client, table, "row") }()
		synctest.Wait()
		if err := send(); err != nil {
			t.Errorf("done, with the row held by another: %v", err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if got := count(t, client, table, "row"); got != 2 {
			t.Errorf("applied %d times, want 2", got)
		}
	})
}

// Faults come first: what they deliver, whenever and however often, meets the others at the table.
func TestFaultsComeBeforeContention(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		deliver := make(chan struct{})
		transport.Next("TransactWriteItems", dynamotest.Late(deliver))
		if err := addTogether(t.Context(), client, table, "row"); !isReset(err) {
			t.Error(err)
		}
		if err := add(t.Context(), client, table, "row"); err != nil {
			t.Errorf("before the late delivery: %v", err)
		}
		close(deliver)
		synctest.Wait()
		if err := add(t.Context(), client, table, "row"); !is[*types.TransactionConflictException](err) {
			t.Errorf("after it: %v", err)
		}
		time.Sleep(hold)
		transport.Next("UpdateItem", dynamotest.Conflict())
		before := s.Usage(table)
		if err := add(t.Context(), client, table, "row"); !is[*types.TransactionConflictException](err) {
			t.Error(err)
		}
		if got := s.Usage(table); got != before {
			t.Errorf("what a fault answered came to the table: %+v, then %+v", before, got)
		}
	})
}

// Contention is that of one table, and ends with the zero one.
func TestContentionIsOfOneTable(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold, ReadUnits: 1, WriteUnits: 1})
	other := s.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		try := func(table string) (refused []string) {
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = addTogether(t.Context(), client, table, "row")
			}()
			synctest.Wait()
			for _, a := range accesses() {
				if err := a.do(t.Context(), client, table, "row"); err != nil {
					refused = append(refused, fmt.Sprint(a.name, ": ", err))
				}
			}
			<-over
			return refused
		}
		if refused := try(other); refused != nil {
			t.Errorf("in another table: %q", refused)
		}
		if refused := try(table); len(refused) < len(accesses())-2 {
			t.Errorf("only %q", refused)
		}
		s.Contend(table, dynamotest.Contention{})
		if refused := try(table); refused != nil {
			t.Errorf("at its end: %q", refused)
		}
	})
}

// A table may have no transactions, as one with multi-Region strong consistency: every Transport refuses
// them, and all else works.
func TestTableWithoutTransactions(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	none := dynamotest.Reply(400, "ValidationException", "Transactions are not supported on this table")
	for _, op := range []string{"TransactWriteItems", "TransactGetItems"} {
		defer transport.Every(op, none)()
	}
	for _, a := range accesses() {
		want := isNil
		if a.met != nil && a.each == 2 {
			want = isAPI("ValidationException")
		}
		if err := a.do(t.Context(), transport.Client(noRetries), table, "row"); !want(err) {
			t.Errorf("%s: %v", a.name, err)
		}
	}
}
