package applied_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// A world is the applied template: its table exists, and its references name that table.
type world struct {
	*synthesis
	server  *dynamotest.Server
	table   string
	results string // the programs' own table
}

// apply makes the table of the template.
func apply(t testing.TB) *world {
	t.Helper()
	s := database(t)
	w := &world{synthesis: stack(t), server: s, table: "leases-" + strings.ToLower(rand.Text()), results: s.Table(t)}
	id, resource, err := w.Only("AWS::DynamoDB::GlobalTable")
	if err != nil {
		t.Fatal(err)
	}
	w.synthesis = &synthesis{Template: w.Bound(id, w.table, iamproxy.TableARN(w.table)), roles: w.roles}
	if err := w.createTable(t.Context(), resource.Properties); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.Client().DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &w.table}); err != nil {
			t.Errorf("delete the table: %v", err)
		}
	})
	return w
}

// createTable makes the table from its properties. It passes properties with the names of the API
// on as they are.
func (w *world) createTable(ctx context.Context, properties map[string]any) error {
	in := &dynamodb.CreateTableInput{TableName: &w.table}
	ttl := &dynamodb.UpdateTimeToLiveInput{TableName: &w.table}
	for name, value := range properties {
		var target any
		switch name {
		case "AttributeDefinitions":
			target = &in.AttributeDefinitions
		case "KeySchema":
			target = &in.KeySchema
		case "BillingMode":
			target = &in.BillingMode
		case "TimeToLiveSpecification":
			target = &ttl.TimeToLiveSpecification
		case "Replicas": // backups and protection, which a test server does not have
			continue
		default:
			return fmt.Errorf("create the template's table: its property %s is not known", name)
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, target)
		}
		if err != nil {
			return fmt.Errorf("create the template's table: %s: %w", name, err)
		}
	}
	client := w.server.Client()
	if _, err := client.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("create the template's table: %w", err)
	}
	if ttl.TimeToLiveSpecification == nil {
		return nil
	}
	if _, err := client.UpdateTimeToLive(ctx, ttl); err != nil {
		return fmt.Errorf("turn on the TTL of the template's table: %w", err)
	}
	return nil
}

// policy returns everything that a role of the stack is allowed in DynamoDB.
func (w *world) policy(t testing.TB, role string) iamproxy.Policy {
	t.Helper()
	statements, err := w.Statements(w.roles[role])
	if err != nil {
		t.Fatal(err)
	}
	policy, err := iamproxy.Parse(statements)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

type row = map[string]types.AttributeValue

func key(pk, sk string) row {
	return row{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

// rows returns all rows of the table, by their keys.
func (w *world) rows(t testing.TB) map[string]row {
	t.Helper()
	found := make(map[string]row)
	pages := dynamodb.NewScanPaginator(w.server.Client(), &dynamodb.ScanInput{TableName: &w.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			found[text(r["pk"])+" "+text(r["sk"])] = r
		}
	}
	return found
}

// ttlOf returns a row's ttl, and 0 if it has none.
func ttlOf(r row) int64 {
	n, _ := r["ttl"].(*types.AttributeValueMemberN)
	if n == nil {
		return 0
	}
	ttl, _ := strconv.ParseInt(n.Value, 10, 64)
	return ttl
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// unneeded returns an error that lists the permissions of a policy that nothing needed.
func unneeded(guard *iamproxy.Guard) error {
	if unused := guard.Unused(); len(unused) > 0 {
		return fmt.Errorf("allowed, and never needed: %s", strings.Join(unused, "; "))
	}
	return nil
}
