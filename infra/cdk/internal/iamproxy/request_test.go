package iamproxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Requests need what IAM asks for.
func TestNeeds(t *testing.T) {
	const key = `"TableName": "t", "Key": {"pk": {"S": "a"}, "sk": {"S": "b"}}`
	for _, c := range []struct {
		operation, body string
		want            []string
	}{
		{"GetItem", `{` + key + `}`, []string{"GetItem t a"}},
		{"UpdateItem", `{` + key + `}`, []string{"UpdateItem t a"}},
		{"DeleteItem", `{` + key + `}`, []string{"DeleteItem t a"}},
		{"PutItem", `{"TableName": "t", "Item": {"pk": {"S": "a"}, "n": {"N": "1"}, "l": {"L": []}}}`, []string{"PutItem t a"}},
		{"Scan", `{"TableName": "t"}`, []string{"Scan t"}},
		{"Query", `{"TableName": "t", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}`, []string{"Query t a"}},
		{"Query", `{"TableName": "t", "KeyConditionExpression": "#s BETWEEN :f AND :l AND (#p = :p)", "ExpressionAttributeNames": {"#p": "pk", "#s": "sk"},
			"ExpressionAttributeValues": {":p": {"S": "a"}, ":f": {"S": "f"}, ":l": {"S": "l"}}}`, []string{"Query t a"}},
		{"Query", `{"TableName": "t", "IndexName": "i", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}`, []string{"Query t/index/i a"}},
		{"GetItem", `{"TableName": "` + TableARN("t") + `", "Key": {"pk": {"S": "a"}}}`, []string{"GetItem t a"}},
		{"TransactWriteItems", `{"TransactItems": [{"Update": {` + key + `}}, {"ConditionCheck": {` + key + `}}, {"Delete": {` + key + `}},
			{"Put": {"TableName": "u", "Item": {"pk": {"S": "c"}}}}]}`, []string{"UpdateItem t a", "ConditionCheckItem t a", "DeleteItem t a", "PutItem u c"}},
		{"TransactGetItems", `{"TransactItems": [{"Get": {` + key + `}}]}`, []string{"GetItem t a"}},
		{"BatchGetItem", `{"RequestItems": {"t": {"Keys": [{"pk": {"S": "b"}}, {"pk": {"S": "a"}}, {"pk": {"S": "b"}}]}}}`, []string{"BatchGetItem t a b"}},
		{"BatchWriteItem", `{"RequestItems": {"t": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}, {"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}]}}`, []string{"BatchWriteItem t a b"}},
		{"DescribeTable", `{"TableName": "t"}`, []string{"DescribeTable t"}},
		{"DescribeTimeToLive", `{"TableName": "t"}`, []string{"DescribeTimeToLive t"}},
	} {
		list, err := needs(c.operation, []byte(c.body), "pk")
		var got []string
		for _, n := range list {
			got = append(got, strings.Join(append([]string{
				strings.TrimPrefix(n.action, "dynamodb:"), strings.TrimPrefix(n.resource, account),
			}, n.keys...), " "))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, %v; want %q", c.operation, c.body, got, err, c.want)
		}
	}
}

func TestRequestsThatAreNotKnown(t *testing.T) {
	for _, c := range []struct{ operation, body string }{
		{"ExecuteStatement", `{}`},
		{"ListTables", `{}`},
		{"", ``},
		{"GetItem", `{"TableName": "t"}`},
		{"GetItem", `{"TableName": "t", "Key": {"pk": {"N": "1"}}}`},
		{"GetItem", `nothing`},
		{"Query", `{"TableName": "t", "KeyConditions": {"pk": {}}}`},
		{"Query", `{"TableName": "t", "KeyConditionExpression": "sk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}`},
		{"TransactWriteItems", `{"TransactItems": [{"Merge": {}}]}`},
		{"BatchGetItem", `{"RequestItems": {"t": {"Keys": [{}]}}}`},
	} {
		guard := NewGuard(Policy{}, "pk")
		if err := guard.judge(c.operation, []byte(c.body)); err == nil || guard.Refused() == nil {
			t.Errorf("%s %s is let through: %v", c.operation, c.body, err)
		}
	}
}

func TestGuard(t *testing.T) {
	arn := []string{TableARN("t")}
	policy := Policy{
		{Actions: []string{"dynamodb:GetItem", "dynamodb:UpdateItem"}, Resources: arn, Keys: &Keys{Patterns: []string{"a", "b", "c"}, Required: true}},
		{Actions: []string{"dynamodb:Scan", "dynamodb:UpdateItem"}, Resources: arn},
	}
	guard := NewGuard(policy, "pk")
	body := func(key string) []byte { return fmt.Appendf(nil, `{"TableName": "t", "Key": {"pk": {"S": %q}}}`, key) }
	for _, step := range []struct {
		operation, key string
		ok             bool
	}{
		{"GetItem", "a", true}, {"GetItem", "d", false}, {"UpdateItem", "b", true}, {"UpdateItem", "d", true}, {"DeleteItem", "a", false}, {"Scan", "a", true},
	} {
		if err := guard.judge(step.operation, body(step.key)); err == nil != step.ok {
			t.Errorf("%s of %s: %v, want it allowed: %v", step.operation, step.key, err, step.ok)
		}
	}
	if err := guard.judge("GetItem", []byte(`{"TableName": "u", "Key": {"pk": {"S": "a"}}}`)); err == nil {
		t.Error("another table is allowed")
	}
	// UpdateItem of "b" is allowed twice, so the first statement is not needed.
	want := []string{"statement 0: dynamodb:UpdateItem", "statement 0: the leading key b", "statement 0: the leading key c"}
	if got := guard.Unused(); !slices.Equal(got, want) {
		t.Errorf("unused are %q, want %q", got, want)
	}
	if n := strings.Count(guard.Refused().Error(), "not allowed"); n != 3 {
		t.Errorf("%d were refused, want 3: %v", n, guard.Refused())
	}
}
