package dynamotest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestRequestsAreRecordedInOrder(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client()
	if err := add(t.Context(), client, table, "first"); err != nil {
		t.Fatal(err)
	}
	count(t, client, table, "second")

	requests := transport.Requests()
	if len(requests) != 2 || requests[0].Op != "UpdateItem" || requests[1].Op != "GetItem" {
		t.Fatalf("got %d requests: %v", len(requests), requests)
	}
	if !bytes.Contains(requests[0].Body, []byte(`"first"`)) {
		t.Errorf("the first body is %s", requests[0].Body)
	}
	if u, g, all := transport.Count("UpdateItem"), transport.Count("GetItem"), transport.Count(""); u != 1 || g != 1 || all != 2 {
		t.Errorf("counts: %d, %d, %d", u, g, all)
	}
	transport.Reset()
	if got := transport.Count(""); got != 0 {
		t.Errorf("after Reset: %d", got)
	}
}

func TestNextIsTakenInOrderByItsOperation(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	transport.Next("UpdateItem", dynamotest.Throttle())
	transport.Next("TransactWriteItems", dynamotest.ServerError(500))
	transport.Next("UpdateItem", dynamotest.Conflict())
	transport.Next("", dynamotest.AccessDenied())

	for i, want := range []func(error) bool{
		is[*types.ProvisionedThroughputExceededException],
		is[*types.TransactionConflictException],
		isAPI("AccessDeniedException"), // meant for any operation
		isNil,
	} {
		if err := add(t.Context(), client, table, "row"); !want(err) {
			t.Errorf("update %d: got %v", i, err)
		}
	}
	if err := addTogether(t.Context(), client, table, "row"); !is[*types.InternalServerError](err) {
		t.Errorf("transaction: got %v", err)
	}
}

// TestEveryComesBeforeNext has both kinds of fault meet the same request.
func TestEveryComesBeforeNext(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	passed := 0
	transport.Every("UpdateItem", dynamotest.Around(func() { passed++ }, nil))
	transport.Next("UpdateItem", dynamotest.LoseRequest())
	if err := add(t.Context(), client, table, "row"); !isReset(err) {
		t.Errorf("got %v", err)
	}
	if passed != 1 {
		t.Errorf("the standing fault happened %d times, want 1", passed)
	}
}

func TestEveryUntilStopped(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	stop := transport.Every("UpdateItem", dynamotest.Throttle())
	for range 3 {
		if err := add(t.Context(), client, table, "row"); !is[*types.ProvisionedThroughputExceededException](err) {
			t.Errorf("got %v", err)
		}
	}
	stop()
	stop()
	if err := add(t.Context(), client, table, "row"); err != nil {
		t.Error(err)
	}
}

// TestDefaultRetriesMeetTheirOwnWrite is the reason for this package: the SDK retries a lost answer, and
// the retry is refused because of what the first attempt wrote.
func TestDefaultRetriesMeetTheirOwnWrite(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	transport.Next("PutItem", dynamotest.LoseResponse())
	item := key("row")
	item["owner"] = &types.AttributeValueMemberS{Value: "me"}
	_, err := transport.Client().PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: &table, Item: item,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		t.Fatalf("got %v, want ConditionalCheckFailedException", err)
	}
	if owner, ok := refused.Item["owner"].(*types.AttributeValueMemberS); !ok || owner.Value != "me" {
		t.Errorf("refused by %v, want my own row", refused.Item)
	}
	if got := transport.Count("PutItem"); got != 2 {
		t.Errorf("attempts: got %d, want 2", got)
	}
}

// TestDate covers the server's answers and those made up, and the values no real clock gives.
func TestDate(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	date := func(fault dynamotest.Fault) string {
		t.Helper()
		if fault == nil {
			fault = dynamotest.All()
		}
		transport.Next("GetItem", fault)
		var header http.Header
		_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key("row")},
			func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, keepHeader(&header)) })
		if err != nil && !is[*types.InternalServerError](err) {
			t.Fatal(err)
		}
		return header.Get("Date")
	}
	for name, fault := range map[string]dynamotest.Fault{"answer": nil, "reply": dynamotest.ServerError(500)} {
		transport.Date(nil)
		if at, err := http.ParseTime(date(fault)); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("%s: default date is %v (%v)", name, at, err)
		}
		transport.Date(func(now time.Time) string { return now.Add(time.Hour).UTC().Format(http.TimeFormat) })
		if at, err := http.ParseTime(date(fault)); err != nil || time.Until(at) < 59*time.Minute {
			t.Errorf("%s: skewed date is %v (%v)", name, at, err)
		}
		transport.Date(func(time.Time) string { return "yesterday" })
		if got := date(fault); got != "yesterday" {
			t.Errorf("%s: garbled date is %q", name, got)
		}
		transport.Date(func(time.Time) string { return "" })
		if got := date(fault); got != "" {
			t.Errorf("%s: removed date is %q", name, got)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	transport := s.Transport()
	defer transport.Close()
	client := transport.Client(noRetries)
	const workers, rounds = 16, 10
	for range workers * rounds / 4 {
		transport.Next("UpdateItem", dynamotest.LoseRequest())
	}
	var applied atomic.Int64
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for range rounds {
				if err := add(context.Background(), client, table, "row"); err == nil {
					applied.Add(1)
				}
			}
			stop := transport.Every(fmt.Sprint("Op", i), dynamotest.Hang())
			transport.Requests()
			stop()
		})
	}
	wg.Wait()
	if got, want := int(applied.Load()), workers*rounds*3/4; got != want {
		t.Errorf("successes: got %d, want %d", got, want)
	}
	if got, want := count(t, client, table, "row"), workers*rounds*3/4; got != want {
		t.Errorf("applied: got %d, want %d", got, want)
	}
}
