package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	tableTimeout = 2 * time.Minute
	tablePeriod  = 500 * time.Millisecond
)

// TB is what Table needs of a *testing.T. A program that is no test can bring its own.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Table returns the name of a fresh and ACTIVE table with the string keys pk (hash) and sk (range), billed
// on demand, whose TTL attribute is ttl. It is deleted when the test ends. Table ends the test if the
// table cannot be made.
//
// On AWS, where making a table takes long, all tests of the Server share one table, which Close deletes:
// tests should use keys of their own in it. Make the first call outside of any synctest bubble then.
func (s *Server) Table(tb TB) string {
	tb.Helper()
	name, err := s.table()
	if err != nil {
		tb.Fatalf("make a table for %s: %v", tb.Name(), err)
		return "" // for a TB that returns from Fatalf
	}
	if !s.onAWS() {
		tb.Cleanup(func() {
			if err := s.deleteTable(name); err != nil {
				tb.Logf("table of %s is left behind: %v", tb.Name(), err)
			}
		})
	}
	return name
}

func (s *Server) onAWS() bool { return s.creds.HasKeys() }

func (s *Server) table() (string, error) {
	if !s.onAWS() {
		name := tableName()
		return name, s.createTable(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.shared != "" {
		return s.shared, nil
	}
	name := tableName()
	if err := s.createTable(name); err != nil {
		return "", err
	}
	s.shared = name
	return name, nil
}

func tableName() string { return "dynamolease-test-" + strings.ToLower(rand.Text()) }

func (s *Server) createTable(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tableTimeout)
	defer cancel()
	client := s.adminClient()
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		return fmt.Errorf("create table: %w", err)
	}
	if err := awaitActive(ctx, client, name); err != nil {
		return errors.Join(err, s.deleteTable(name))
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"),
			Enabled:       aws.Bool(true),
		},
	})
	if err != nil {
		return errors.Join(fmt.Errorf("enable TTL: %w", err), s.deleteTable(name))
	}
	return nil
}

func awaitActive(ctx context.Context, client *dynamodb.Client, name string) error {
	ticker := time.NewTicker(tablePeriod)
	defer ticker.Stop()
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("describe table: %w", err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for table to be ACTIVE: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

func (s *Server) deleteTable(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	if _, err := s.adminClient().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
		return fmt.Errorf("delete table %s: %w", name, err)
	}
	return nil
}

// adminClient works inside and outside of synctest bubbles, unlike Client.
func (s *Server) adminClient() *dynamodb.Client { return s.VirtualTransport().Client() }
