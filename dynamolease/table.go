package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// The waits between two looks at the state of a table that DynamoDB is creating.
const (
	firstTablePoll = 50 * time.Millisecond
	maxTablePoll   = 5 * time.Second
)

// CreateTable creates the store's table and waits until it can be used. The table has string keys
// "pk" and "sk", on-demand capacity, no index, and DynamoDB's TTL on the attribute "ttl".
//
// If the table already exists, CreateTable checks it like [Store.CheckTable]. It changes nothing of
// it, except that it turns the TTL on if it is off. Several nodes may call CreateTable at one time.
//
// CreateTable usually takes seconds. Give ctx a deadline of minutes. In production, provision the
// table with your other infrastructure instead, and call CheckTable.
func (s *Store) CreateTable(ctx context.Context) error {
	input := &dynamodb.CreateTableInput{
		TableName:   &s.rows.Name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(rowstore.AttrPK), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(rowstore.AttrSK), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(rowstore.AttrPK), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(rowstore.AttrSK), AttributeType: types.ScalarAttributeTypeS},
		},
	}
	// An attempt whose answer was lost is found out by the next: the table is in use.
	err := s.ask(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.CreateTable(ctx, input, opt)
		return err
	})
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return s.explain(err, "create table")
	}
	table, err := s.awaitTable(ctx)
	if err == nil {
		err = s.checkDescription(ctx, table) // before any change: the table may belong to another program
	}
	if err == nil {
		err = s.enableTTL(ctx)
	}
	return s.explain(err, "create table")
}

// awaitTable waits until the table is active, and returns its description.
func (s *Store) awaitTable(ctx context.Context) (*types.TableDescription, error) {
	for delay := firstTablePoll; ; delay = min(2*delay, maxTablePoll) {
		table, err := s.describe(ctx)
		var missing *types.ResourceNotFoundException // for a moment, because descriptions are eventually consistent
		switch {
		case err != nil && !errors.As(err, &missing):
			return nil, err
		case err == nil && table.TableStatus == types.TableStatusActive:
			return table, nil
		case err == nil && table.TableStatus != types.TableStatusCreating && table.TableStatus != types.TableStatusUpdating:
			return nil, s.unfit(fmt.Sprintf("it is %s", table.TableStatus), "create it again, or use another name")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the table to become active: %w", context.Cause(ctx))
		case <-time.After(delay):
		}
	}
}

// ask sends a request about the table until it is answered.
func (s *Store) ask(ctx context.Context, send rowstore.Send) error {
	_, err := s.rows.Repeat(ctx, s.rows.Budget(0), s.rows.Timeout(0), send)
	return err
}

func (s *Store) describe(ctx context.Context) (*types.TableDescription, error) {
	var out *dynamodb.DescribeTableOutput
	err := s.ask(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.rows.Name}, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

// enableTTL turns the TTL on if it is off. A TTL on another attribute is an error.
func (s *Store) enableTTL(ctx context.Context) error {
	on, err := s.checkTTL(ctx)
	if err != nil || on {
		return err
	}
	err = s.ask(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               &s.rows.Name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrTTL), Enabled: aws.Bool(true)},
		}, opt)
		return err
	})
	if err != nil {
		if on, checkErr := s.checkTTL(ctx); checkErr == nil && on {
			return nil // another node was faster, or an attempt whose answer was lost
		}
	}
	return err
}

// CheckTable checks that the table is as the store needs it: active, with the string keys "pk"
// (hash) and "sk" (range), and no TTL on an attribute other than "ttl". The error is a
// [SetupError] that names the necessary change.
//
// CheckTable logs a warning about three states that work but may be mistakes: the TTL is off (rows
// then stay until something reaps them); other Regions have replicas that are eventually consistent;
// or the table is multi-Region strongly consistent, and so has no transactions. Sessions, takeovers,
// Checkpoint and plain leases by [EachItem] work there. The warning names the calls that do not.
func (s *Store) CheckTable(ctx context.Context) error {
	table, err := s.describe(ctx)
	if err != nil {
		return s.explain(err, "check table")
	}
	if err := s.checkDescription(ctx, table); err != nil {
		return s.explain(err, "check table")
	}
	on, err := s.checkTTL(ctx)
	if err != nil {
		return s.explain(err, "check table")
	}
	if !on {
		s.logger.WarnContext(ctx, "dynamolease: the table's TTL is off, dead rows stay", "table", s.rows.Name, "attribute", attrTTL)
	}
	return nil
}

func (s *Store) checkDescription(ctx context.Context, table *types.TableDescription) error {
	switch {
	case table.TableStatus != types.TableStatusActive && table.TableStatus != types.TableStatusUpdating:
		return s.unfit(fmt.Sprintf("it is %s", table.TableStatus), "wait until it is ACTIVE")
	case !hasKey(table, rowstore.AttrPK, types.KeyTypeHash) || !hasKey(table, rowstore.AttrSK, types.KeyTypeRange) || len(table.KeySchema) != 2:
		return s.unfit("its keys do not fit",
			`create it anew with the string keys "pk" (partition key) and "sk" (sort key)`)
	case len(table.Replicas) > 0 && table.MultiRegionConsistency == types.MultiRegionConsistencyStrong:
		s.logger.WarnContext(ctx, "dynamolease: the table is multi-Region strongly consistent and has no transactions. These do not work: "+
			s.needTransactions(), "table", s.rows.Name)
	case len(table.Replicas) > 0:
		s.logger.WarnContext(ctx, "dynamolease: the table has eventually consistent replicas: all nodes must use one Region, or two can hold a lease",
			"table", s.rows.Name)
	}
	return nil
}

// needTransactions names what fails on a table without transactions. Sessions, takeovers, Checkpoint
// and Resume never send any.
func (s *Store) needTransactions() string {
	calls := "AcquireAll, Transact with items, Lease.Check, takeovers of process leases"
	if s.renewal == Transactions {
		calls = "Renew (set Options.Renewal to EachItem), " + calls
	}
	return calls
}

func hasKey(table *types.TableDescription, name string, kind types.KeyType) bool {
	for _, element := range table.KeySchema {
		if aws.ToString(element.AttributeName) == name && element.KeyType == kind {
			for _, definition := range table.AttributeDefinitions {
				if aws.ToString(definition.AttributeName) == name {
					return definition.AttributeType == types.ScalarAttributeTypeS
				}
			}
		}
	}
	return false
}

// checkTTL reports whether the table's TTL is on. A TTL on another attribute is an error: it could
// delete live rows.
func (s *Store) checkTTL(ctx context.Context) (on bool, err error) {
	var out *dynamodb.DescribeTimeToLiveOutput
	err = s.ask(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.rows.Name}, opt)
		return err
	})
	if err != nil {
		return false, err
	}
	ttl := out.TimeToLiveDescription
	if ttl == nil || ttl.TimeToLiveStatus != types.TimeToLiveStatusEnabled && ttl.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return false, nil
	}
	if name := aws.ToString(ttl.AttributeName); name != attrTTL {
		return true, s.unfit(fmt.Sprintf("its TTL is on the attribute %q", name), `turn it off, or put it on "ttl"`)
	}
	return true, nil
}

func (s *Store) unfit(problem, remedy string) error {
	return &SetupError{Table: s.rows.Name, Problem: problem, Remedy: remedy}
}
