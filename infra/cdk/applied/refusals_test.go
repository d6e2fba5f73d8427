package applied_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// A team is a program that uses the table under the policy of a role.
type team struct {
	*dynamolease.Store
	client *dynamodb.Client
	guard  *iamproxy.Guard
}

func (w *world) team(t *testing.T, role string) *team {
	t.Helper()
	guard := iamproxy.NewGuard(w.policy(t, role), "pk")
	transport := w.server.Transport()
	t.Cleanup(transport.Close)
	client := transport.Client(func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: guard.Transport(transport)}
	})
	store, err := dynamolease.New(client, w.table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &team{store, client, guard}
}

func denied(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
}

func expectDenied(t *testing.T, attempts map[string]func(context.Context) error) {
	t.Helper()
	for what, try := range attempts {
		if err := try(t.Context()); !denied(err) {
			t.Errorf("%s: %v; want that it is denied", what, err)
		}
	}
}

// Two teams share a table. Each has a grant for its own names. They use the same partition numbers
// and node names, and do not meet.
func testTwoTeams(t *testing.T) {
	w := apply(t)
	theirs, ours := w.team(t, "Holder"), w.team(t, "OtherHolder")
	for _, use := range []struct {
		*team
		group, service string
	}{{theirs, "orders", "shop"}, {ours, "bills", "office"}} {
		lease, acquired, err := use.Acquire(t.Context(), use.group, 0, "node", time.Minute)
		if err != nil || !acquired {
			t.Fatalf("acquire %s/0: %v, %v", use.group, acquired, err)
		}
		if _, err := use.Heartbeat(t.Context(), dynamolease.Node{Service: use.service, Name: "node", Address: "node:1", Groups: []string{use.group}}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := use.Checkpoint(t.Context(), lease, []byte(use.group)); err != nil {
			t.Fatal(err)
		}
		if err := use.guard.Refused(); err != nil {
			t.Fatal(err)
		}
	}
	before := w.rows(t)
	own, acquired, err := ours.Acquire(t.Context(), "bills", 1, "node", time.Minute)
	if err != nil || !acquired {
		t.Fatal(acquired, err)
	}
	foreign := key("L#orders", "P#0000000000")
	expectDenied(t, map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error {
			_, _, err := ours.Acquire(ctx, "orders", 0, "node", time.Minute)
			return err
		},
		"renew": func(ctx context.Context) error {
			_, err := ours.Renew(ctx, "orders", []int{0}, "node", time.Minute)
			return err
		},
		"release": func(ctx context.Context) error { _, err := ours.Release(ctx, "orders", 0, "node"); return err },
		"owners":  func(ctx context.Context) error { _, err := ours.Owners(ctx, "orders"); return err },
		"members": func(ctx context.Context) error { _, err := ours.Members(ctx, "shop"); return err },
		"heartbeat": func(ctx context.Context) error {
			_, err := ours.Heartbeat(ctx, dynamolease.Node{Service: "shop", Name: "node", Address: "node:1"}, time.Minute)
			return err
		},
		"leave": func(ctx context.Context) error { return ours.Leave(ctx, "shop", "node") },
		"session": func(ctx context.Context) error {
			_, err := ours.OpenSession(ctx, dynamolease.Node{Service: "shop", Name: "node", Address: "node:1"}, time.Minute)
			return err
		},
		"fenced work on a row of theirs": func(ctx context.Context) error {
			return ours.Transact(ctx, own, nil, types.TransactWriteItem{Update: &types.Update{
				TableName: &w.table, Key: foreign, UpdateExpression: aws.String("REMOVE #owner"),
				ExpressionAttributeNames: map[string]string{"#owner": "owner"},
			}})
		},
	})
	after := w.rows(t)
	maps.DeleteFunc(after, func(key string, _ row) bool { return before[key] == nil })
	if !reflect.DeepEqual(before, after) {
		t.Errorf("rows have changed: %v, then %v", before, after)
	}
}

// Grants take names with pattern characters literally, and grant nothing else.
func testStrangeNames(t *testing.T) {
	w := apply(t)
	team := w.team(t, "StrangeHolder")
	for _, group := range strange.Groups {
		if _, acquired, err := team.Acquire(t.Context(), group, 0, "node", time.Minute); err != nil || !acquired {
			t.Errorf("acquire in %s: %v, %v", group, acquired, err)
		}
	}
	if err := team.guard.Refused(); err != nil {
		t.Error(err)
	}
	expectDenied(t, map[string]func(context.Context) error{
		"another group": func(ctx context.Context) error { _, err := team.Owners(ctx, "orders"); return err },
		"longer group":  func(ctx context.Context) error { _, err := team.Owners(ctx, "**"); return err },
		"a user's name": func(ctx context.Context) error { _, err := team.Owners(ctx, "root"); return err },
		"other service": func(ctx context.Context) error { _, err := team.Members(ctx, "shop"); return err },
	})
}

// No grant with a scope includes requests without a key, other operations, or rows of other kinds.
func testOutOfScope(t *testing.T) {
	w := apply(t)
	for role, g := range grants {
		team := w.team(t, role)
		attempts := map[string]func(context.Context) error{
			role + " writes a new row": func(ctx context.Context) error {
				_, err := team.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.table, Item: key("L#orders", "x")})
				return err
			},
			role + " deletes a row": func(ctx context.Context) error {
				_, err := team.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.table, Key: key("L#orders", "x")})
				return err
			},
			role + " scans": func(ctx context.Context) error {
				_, err := team.client.Scan(ctx, &dynamodb.ScanInput{TableName: &w.table})
				return err
			},
			role + " uses another table": func(ctx context.Context) error {
				_, err := team.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.results, Key: key("L#orders", "x")})
				return err
			},
		}
		if g.scope != nil {
			attempts[role+" reads the reaper's row"] = func(ctx context.Context) error {
				_, err := team.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table, Key: key("R#reaper", "POSITION")})
				return err
			}
			attempts[role+" reads in a batch"] = func(ctx context.Context) error {
				_, err := team.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					w.table: {Keys: []row{key("L#orders", "x")}},
				}})
				return err
			}
			attempts[role+" writes elsewhere"] = func(ctx context.Context) error {
				_, err := team.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &w.table, Key: key("L#elsewhere", "x")})
				return err
			}
		}
		if g.reads {
			attempts[role+" writes"] = func(ctx context.Context) error {
				_, err := team.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &w.table, Key: key("L#orders", "x")})
				return err
			}
		}
		expectDenied(t, attempts)
	}
	if rows := w.rows(t); len(rows) > 0 {
		t.Errorf("rows are there all the same: %v", rows)
	}
}
