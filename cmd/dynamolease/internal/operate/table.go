package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// A Description describes a table.
type Description struct {
	Table    string    `json:"table"`
	ARN      string    `json:"arn,omitempty"`
	Status   string    `json:"status"`
	Created  time.Time `json:"created,omitzero"`
	Keys     []string  `json:"keys"`    // with their kinds and types
	Billing  string    `json:"billing"` // PAY_PER_REQUEST or PROVISIONED
	Items    int64     `json:"items"`   // as DynamoDB counts them every six hours or so
	Bytes    int64     `json:"bytes"`   // likewise
	TTL      string    `json:"ttl"`     // DynamoDB's status
	TTLOn    string    `json:"ttl_attribute,omitempty"`
	Indexes  []string  `json:"indexes,omitempty"`
	Replicas []string  `json:"replicas,omitempty"`
}

// Describe asks DynamoDB about the table. It reads no rows.
func (t *Table) Describe(ctx context.Context) (Description, error) {
	out, err := t.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Name})
	if err != nil {
		return Description{}, fmt.Errorf("describe table: %w", err)
	}
	table := out.Table
	d := Description{
		Table: t.Name, ARN: aws.ToString(table.TableArn), Status: string(table.TableStatus), Created: aws.ToTime(table.CreationDateTime).UTC(),
		Billing: string(types.BillingModeProvisioned), Items: aws.ToInt64(table.ItemCount), Bytes: aws.ToInt64(table.TableSizeBytes),
	}
	if table.BillingModeSummary != nil {
		d.Billing = string(table.BillingModeSummary.BillingMode)
	}
	for _, key := range table.KeySchema {
		d.Keys = append(d.Keys, fmt.Sprintf("%s (%s, %s)", aws.ToString(key.AttributeName), key.KeyType, typeOf(table, key.AttributeName)))
	}
	for _, index := range table.GlobalSecondaryIndexes {
		d.Indexes = append(d.Indexes, aws.ToString(index.IndexName))
	}
	for _, replica := range table.Replicas {
		d.Replicas = append(d.Replicas, aws.ToString(replica.RegionName))
	}
	d.TTL, d.TTLOn, err = t.ttl(ctx)
	return d, err
}

func typeOf(table *types.TableDescription, name *string) types.ScalarAttributeType {
	for _, definition := range table.AttributeDefinitions {
		if aws.ToString(definition.AttributeName) == aws.ToString(name) {
			return definition.AttributeType
		}
	}
	return "?"
}

func (t *Table) ttl(ctx context.Context) (status, attribute string, err error) {
	out, err := t.Client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.Name})
	var api smithy.APIError
	switch {
	case errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException":
		return "unknown: dynamodb:DescribeTimeToLive is not allowed", "", nil
	case err != nil:
		return "", "", fmt.Errorf("describe the ttl of the table: %w", err)
	case out.TimeToLiveDescription == nil:
		return string(types.TimeToLiveStatusDisabled), "", nil
	}
	ttl := out.TimeToLiveDescription
	return string(ttl.TimeToLiveStatus), aws.ToString(ttl.AttributeName), nil
}

// Text returns a line for each known fact.
func (d Description) Text() string {
	ttl := d.TTL
	if d.TTLOn != "" {
		ttl += " on " + d.TTLOn
	}
	rows := [][]string{
		{"table", d.Table}, {"arn", cmp.Or(d.ARN, "-")}, {"status", d.Status}, {"keys", strings.Join(d.Keys, ", ")},
		{"billing", d.Billing}, {"ttl", ttl},
		{"items", fmt.Sprintf("%d (%d bytes), as counted some hours ago", d.Items, d.Bytes)},
	}
	if len(d.Indexes) > 0 {
		rows = append(rows, []string{"indexes", strings.Join(d.Indexes, ", ") + " (they are not needed, and cost writes)"})
	}
	if len(d.Replicas) > 0 {
		rows = append(rows, []string{"replicas", strings.Join(d.Replicas, ", ")})
	}
	return columns(rows)
}
