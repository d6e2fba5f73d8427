package dynamolease_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// newTable returns a store on a table that is not there, and removes what a test makes of it.
func newTable(t *testing.T) (*dynamolease.Store, string, *dynamodb.Client) {
	t.Helper()
	client := testkit.Server(t).Client()
	name := "dynamolease-test-" + uuid.NewString()
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Log(err)
		}
	})
	store, err := dynamolease.New(client, name)
	if err != nil {
		t.Fatal(err)
	}
	return store, name, client
}

func tableContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestCreateTableMakesWhatCheckTableWants(t *testing.T) {
	store, name, client := newTable(t)
	ctx := tableContext(t)
	for range 2 { // the second finds it there
		if err := store.CreateTable(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.CheckTable(ctx); err != nil {
		t.Fatal(err)
	}
	table, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	if mode := table.Table.BillingModeSummary; mode == nil || mode.BillingMode != types.BillingModePayPerRequest {
		t.Errorf("billing %+v, want on demand", mode)
	}
	if n := len(table.Table.GlobalSecondaryIndexes) + len(table.Table.LocalSecondaryIndexes); n != 0 {
		t.Errorf("%d indexes, want none", n)
	}
	on, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil || aws.ToString(on.TimeToLiveDescription.AttributeName) != "ttl" {
		t.Errorf("TTL %+v, %v", on, err)
	}
}

func TestCreateTableByManyAtOnce(t *testing.T) {
	store, _, _ := newTable(t)
	ctx := tableContext(t)
	errs := make([]error, 8)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() { errs[i] = store.CreateTable(ctx) })
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCheckTableSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		sortKey string
		kind    types.ScalarAttributeType
		ttl     string
		problem string
	}{
		"another sort key":         {"range", types.ScalarAttributeTypeS, "", "keys"},
		"a sort key of number":     {"sk", types.ScalarAttributeTypeN, "", "keys"},
		"no sort key":              {"", "", "", "keys"},
		"TTL on another attribute": {"sk", types.ScalarAttributeTypeS, "exp", "TTL"},
	} {
		t.Run(name, func(t *testing.T) {
			store, table, client := newTable(t)
			ctx := tableContext(t)
			input := &dynamodb.CreateTableInput{
				TableName: &table, BillingMode: types.BillingModePayPerRequest,
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
			}
			if c.sortKey != "" {
				input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: &c.sortKey, KeyType: types.KeyTypeRange})
				input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: &c.sortKey, AttributeType: c.kind})
			}
			if _, err := client.CreateTable(ctx, input); err != nil {
				t.Fatal(err)
			}
			if c.ttl != "" {
				_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &table,
					TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &c.ttl, Enabled: aws.Bool(true)}})
				if err != nil {
					t.Fatal(err)
				}
			}
			err := store.CheckTable(ctx)
			var setup *dynamolease.SetupError
			if !errors.As(err, &setup) || !strings.Contains(setup.Problem, c.problem) || setup.Remedy == "" {
				t.Errorf("got %v, want a SetupError about %s", err, c.problem)
			}
		})
	}
}

// replicated has a table say that it has replicas in other Regions.
func replicated(consistency types.MultiRegionConsistency) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		answer, err := send(req)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		var content map[string]map[string]any
		if err := json.NewDecoder(answer.Body).Decode(&content); err != nil {
			return nil, err
		}
		content["Table"]["Replicas"] = []map[string]string{{"RegionName": "us-east-2"}, {"RegionName": "us-west-2"}}
		content["Table"]["MultiRegionConsistency"] = consistency
		body, err := json.Marshal(content)
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
		answer.Header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
		return answer, err
	}
}

// A table with replicas can be used, but not for everything: CheckTable warns of what does not work
// there, and only of that.
func TestCheckTableWarnsOfReplicas(t *testing.T) {
	const noTransactions = "AcquireAll, Transact with items, Lease.Check, takeovers of process leases"
	for name, c := range map[string]struct {
		consistency types.MultiRegionConsistency
		renewal     dynamolease.Renewal
		says, not   string
	}{
		"strong":              {types.MultiRegionConsistencyStrong, dynamolease.Transactions, "Renew (set Options.Renewal to EachItem), " + noTransactions, "one Region"},
		"strong, by EachItem": {types.MultiRegionConsistencyStrong, dynamolease.EachItem, noTransactions, "Renew"},
		"eventual":            {types.MultiRegionConsistencyEventual, dynamolease.EachItem, "all nodes must use one Region", "AcquireAll"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var log bytes.Buffer
			n := w.node(func(o *dynamolease.Options) {
				o.Renewal, o.Logger = c.renewal, slog.New(slog.NewTextHandler(&log, nil))
			})
			n.Path.Every("DescribeTable", replicated(c.consistency))
			if err := n.CheckTable(tableContext(t)); err != nil {
				t.Fatal(err)
			}
			if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, c.says) || strings.Contains(text, c.not) {
				t.Errorf("logged %s", text)
			}
		})
	}
}

// LS31: a missing table and a missing permission are told, with what to do, by every operation.
func TestSetupErrorsLS31(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	operations := map[string]func(s *dynamolease.Store) error{
		"Acquire":    func(s *dynamolease.Store) error { _, _, err := s.Acquire(ctx, "g", 1, "a", ttl); return err },
		"AcquireAll": func(s *dynamolease.Store) error { _, _, err := s.AcquireAll(ctx, "g", []int{1}, "a", ttl); return err },
		"OpenSession": func(s *dynamolease.Store) error {
			_, err := s.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here"}, ttl)
			return err
		},
		"Renew":   func(s *dynamolease.Store) error { _, err := s.Renew(ctx, "g", []int{1}, "a", ttl); return err },
		"Release": func(s *dynamolease.Store) error { _, err := s.Release(ctx, "g", 1, "a"); return err },
		"Owners":  func(s *dynamolease.Store) error { _, err := s.Owners(ctx, "g"); return err },
		"Heartbeat": func(s *dynamolease.Store) error {
			_, err := s.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here"}, ttl)
			return err
		},
		"Members":    func(s *dynamolease.Store) error { _, err := s.Members(ctx, "s"); return err },
		"Leave":      func(s *dynamolease.Store) error { return s.Leave(ctx, "s", "n") },
		"CheckTable": func(s *dynamolease.Store) error { return s.CheckTable(ctx) },
	}
	for name, operation := range operations {
		missing, err := dynamolease.New(w.Server.Client(), "no-such-table")
		if err != nil {
			t.Fatal(err)
		}
		wantSetupError(t, name, operation(missing), "no-such-table", "does not exist", "CreateTable")
		n := w.node()
		n.Path.Every("", dynamotest.AccessDenied())
		wantSetupError(t, name, operation(n.Store), w.Table, "not allowed", "grant")
	}
}

func wantSetupError(t *testing.T, operation string, err error, table, problem, remedy string) {
	t.Helper()
	var setup *dynamolease.SetupError
	if !errors.As(err, &setup) || setup.Table != table || !strings.Contains(setup.Problem, problem) || !strings.Contains(setup.Remedy, remedy) {
		t.Errorf("%s: got %v, want a SetupError of %q with %q and %q", operation, err, table, problem, remedy)
	}
	if text := fmt.Sprint(err); !strings.Contains(text, table) || !strings.Contains(text, problem) || !strings.Contains(text, remedy) {
		t.Errorf("%s: the error does not say it all: %s", operation, text)
	}
}

// A table of somebody else is told by its keys, and not touched.
func TestCreateTableLeavesAnotherTableAlone(t *testing.T) {
	store, table, client := newTable(t)
	ctx := tableContext(t)
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var setup *dynamolease.SetupError
	if err := store.CreateTable(ctx); !errors.As(err, &setup) || !strings.Contains(setup.Problem, "keys") {
		t.Errorf("got %v, want a SetupError about the keys", err)
	}
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil || ttl.TimeToLiveDescription != nil && ttl.TimeToLiveDescription.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
		t.Errorf("TTL %+v, %v: want it off, as it was", ttl, err)
	}
}
