package dynamotest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Each operation uses up a key's units of its kind, and is then refused until there are units again.
func TestLimitsOfAKey(t *testing.T) {
	const limit = 6
	s := server(t)
	for _, a := range accesses() {
		t.Run(a.name, func(t *testing.T) {
			table := contending(t, s, dynamotest.Contention{ReadUnits: limit, WriteUnits: limit})
			synctest.Test(t, func(t *testing.T) {
				mine, theirs := s.VirtualTransport(), s.VirtualTransport()
				defer mine.Close()
				defer theirs.Close()
				until := func(row string) (passed int) {
					for ; passed < 10*limit; passed++ {
						if err := a.do(t.Context(), mine.Client(noRetries), table, row); err != nil {
							if !a.full(err) {
								t.Fatalf("refused with %v", err)
							}
							break
						}
					}
					return passed
				}
				want := int(limit / a.each)
				if got := until("row"); got != want {
					t.Errorf("%d passed at first, want %d", got, want)
				}
				if err := a.do(t.Context(), theirs.Client(noRetries), table, "row"); !a.full(err) {
					t.Errorf("from another Transport: %v", err)
				}
				if got := until("another"); got != want {
					t.Errorf("%d passed of another key, want %d", got, want)
				}
				time.Sleep(time.Second / 2)
				if got := until("row"); got != (want+1)/2 {
					t.Errorf("%d passed after half a second, want %d", got, (want+1)/2)
				}
				time.Sleep(time.Hour)
				if got := until("row"); got != want {
					t.Errorf("%d passed after an hour, want %d: a second's units", got, want)
				}
				used := s.Usage(table)
				if a.write && used.ReadUnits != 0 || !a.write && used.WriteUnits != 0 || used.ReadUnits+used.WriteUnits == 0 || used.Throttled == 0 {
					t.Errorf("usage: %+v", used)
				}
			})
		})
	}
}

// The units are those of the bytes, which are known when they are used: what was too much is made up first.
func TestLimitsCountBytes(t *testing.T) {
	s := server(t)
	const kilobytes = 10 // 11 write units, and 3 read units
	item := key("row")
	item["text"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", kilobytes<<10)}
	for name, c := range map[string]struct {
		do    func(context.Context, *dynamodb.Client, string, string) error
		units float64
		write bool
	}{
		"UpdateItem":       {add, 11, true},
		"a transaction":    {transact("Update"), 22, true},
		"GetItem":          {get(true), 3, false},
		"Query":            {query(true), 3, false},
		"Query eventually": {query(false), 1.5, false},
		"TransactGetItems": {getTogether, 6, false},
	} {
		t.Run(name, func(t *testing.T) {
			table := contending(t, s, dynamotest.Contention{})
			synctest.Test(t, func(t *testing.T) {
				transport := s.VirtualTransport()
				defer transport.Close()
				client := transport.Client(noRetries)
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
					t.Fatal(err)
				}
				s.Contend(table, dynamotest.Contention{ReadUnits: 1, WriteUnits: 1})
				if err := c.do(t.Context(), client, table, "row"); err != nil {
					t.Fatal(err)
				}
				used := s.Usage(table)
				if got := map[bool]float64{true: used.WriteUnits, false: used.ReadUnits}[c.write]; got != c.units {
					t.Errorf("used %v units, want %v", got, c.units)
				}
				until := time.Duration((c.units - 1) * float64(time.Second))
				time.Sleep(until)
				if err := c.do(t.Context(), client, table, "row"); err == nil {
					t.Error("passed before it was made up")
				}
				time.Sleep(time.Millisecond)
				if err := c.do(t.Context(), client, table, "row"); err != nil {
					t.Errorf("refused when it was made up: %v", err)
				}
			})
		})
	}
}

// What meets a conflict, or fails its condition, is used all the same.
func TestRefusedWritesAreUsed(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{Hold: hold, WriteUnits: 100})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		used := func() float64 {
			u := s.Usage(table).WriteUnits
			s.Contend(table, dynamotest.Contention{Hold: hold, WriteUnits: 100})
			return u
		}
		go func() { _ = addTogether(t.Context(), client, table, "a", "b", "c") }()
		synctest.Wait()
		if got := used(); got != 6 {
			t.Errorf("a transaction of three used %v", got)
		}
		if err := addTogether(t.Context(), client, table, "a", "x"); err == nil {
			t.Error("no conflict")
		}
		if got := used(); got != 4 {
			t.Errorf("one of two that met a conflict used %v", got)
		}
		if err := add(t.Context(), client, table, "b"); err == nil {
			t.Error("no conflict")
		}
		if got := used(); got != 1 {
			t.Errorf("an update that met a conflict used %v", got)
		}
		time.Sleep(hold)
		_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key("b"), ConditionExpression: aws.String("attribute_exists(nothing)")})
		if !is[*types.ConditionalCheckFailedException](err) {
			t.Error(err)
		}
		if got := used(); got != 1 {
			t.Errorf("a failed condition used %v", got)
		}
	})
}

// A transaction names the rows whose key has no units left.
func TestThrottledTransactionNamesTheRows(t *testing.T) {
	s := server(t)
	table := contending(t, s, dynamotest.Contention{WriteUnits: 1})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		if err := add(t.Context(), client, table, "b"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first has used nothing of the others
			if err := addTogether(t.Context(), client, table, "a", "b", "c"); !reasons("None", "ThrottlingError", "None")(err) {
				t.Error(err)
			}
		}
		if got := count(t, client, table, "a"); got != 0 {
			t.Errorf("applied %d times", got)
		}
	})
}

// Refusals look like DynamoDB's own answers: with its type, a request id, and a date.
func TestRefusalsLookReal(t *testing.T) {
	s := server(t)
	const namespace = "com.amazonaws.dynamodb.v20120810#"
	table := contending(t, s, dynamotest.Contention{Hold: hold, WriteUnits: 5, ReadUnits: 5})
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		var types []string
		transport.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			resp, err := send(req)
			if err != nil || resp.StatusCode == http.StatusOK {
				return resp, err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(body))
			var in struct {
				Type string `json:"__type"`
			}
			if json.Unmarshal(body, &in) != nil || resp.StatusCode != http.StatusBadRequest || resp.Header.Get("X-Amzn-Requestid") == "" ||
				resp.Header.Get("Date") != time.Now().UTC().Format(http.TimeFormat) {
				t.Errorf("%v %v %s", resp.Status, resp.Header, body)
			}
			types = append(types, in.Type)
			return resp, err
		})
		go func() { _ = addTogether(t.Context(), client, table, "row") }()
		synctest.Wait()
		for range 4 { // until the key is throttled
			_, _ = add(t.Context(), client, table, "row"), addTogether(t.Context(), client, table, "row")
		}
		want := map[string]bool{namespace + "TransactionConflictException": true, namespace + "TransactionCanceledException": true, namespace + "ThrottlingException": true}
		for _, name := range types {
			if !want[name] {
				delete(want, name)
			}
		}
		for name := range want {
			if !strings.Contains(strings.Join(types, " "), name) {
				t.Errorf("no %s among %q", name, types)
			}
		}
		if len(types) != 8 {
			t.Errorf("%d refusals: %q", len(types), types)
		}
		time.Sleep(hold)
	})
}

// The peaks are those of one key in one second, whatever else is used before, after, or at other keys.
func TestPeakUnitsOfAKey(t *testing.T) {
	s := server(t)
	for _, a := range accesses() {
		t.Run(a.name, func(t *testing.T) {
			table := contending(t, s, dynamotest.Contention{})
			synctest.Test(t, func(t *testing.T) {
				transport := s.VirtualTransport()
				defer transport.Close()
				client := transport.Client(noRetries)
				peak := func() float64 {
					used := s.Usage(table)
					if other := map[bool]float64{true: used.PeakReadUnits, false: used.PeakWriteUnits}[a.write]; other != 0 {
						t.Errorf("a peak of %v units of the other kind", other)
					}
					return used.PeakReadUnits + used.PeakWriteUnits
				}
				use := func(row string, times int) {
					for range times {
						if err := a.do(t.Context(), client, table, row); err != nil {
							t.Fatal(err)
						}
					}
				}
				for _, step := range []struct {
					row         string
					times, want int
				}{{"a", 3, 3}, {"b", 4, 4}, {"a", 2, 5}} {
					if use(step.row, step.times); peak() != float64(step.want)*a.each {
						t.Errorf("%d of %s: a peak of %v, want %d of %v each", step.times, step.row, peak(), step.want, a.each)
					}
				}
				time.Sleep(time.Second)
				if use("a", 4); peak() != 5*a.each {
					t.Errorf("a second later: %v", peak())
				}
				if use("a", 2); peak() != 6*a.each {
					t.Errorf("more in that second: %v", peak())
				}
				s.Contend(table, dynamotest.Contention{})
				if peak() != 0 {
					t.Errorf("from a new start: %v", peak())
				}
			})
		})
	}
}

// The units of an answer are found wherever they stand, whatever the attributes of its rows are called.
func TestUnitsAmongRows(t *testing.T) {
	s := server(t)
	for _, name := range []string{"text", "ConsumedCapacity", "TableName"} {
		for kind, value := range map[string]types.AttributeValue{
			"a string": &types.AttributeValueMemberS{Value: `"ConsumedCapacity":{"TableName":"x","CapacityUnits":7}`},
			"a map": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				"TableName":     &types.AttributeValueMemberS{Value: "x"},
				"CapacityUnits": &types.AttributeValueMemberN{Value: "7"},
			}},
		} {
			t.Run(name+" is "+kind, func(t *testing.T) {
				table := contending(t, s, dynamotest.Contention{})
				item := key("row")
				item[name] = value
				item["size"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 9<<10)}
				transport := s.Transport()
				defer transport.Close()
				client := transport.Client(noRetries)
				if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
					t.Fatal(err)
				}
				if err := query(true)(t.Context(), client, table, "row"); err != nil {
					t.Fatal(err)
				}
				if used := s.Usage(table); used.ReadUnits != 3 || used.WriteUnits != 10 {
					t.Errorf("%+v, want 3 read and 10 write units", used)
				}
			})
		}
	}
}
