package iamproxy

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	policy, err := Parse([]byte(`[
		{"Sid": "a", "Effect": "Allow", "Action": "dynamodb:Scan", "Resource": "arn:aws:dynamodb:r:1:table/t"},
		{"Effect": "Allow", "Action": ["logs:PutLogEvents", "sqs:*"], "Resource": "*"},
		{"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:Query"], "Resource": ["arn:a", "arn:b"], "Condition": {
			"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "L#*"}, "Null": {"dynamodb:LeadingKeys": "false"}}}
	]`))
	want := Policy{
		{Actions: []string{"dynamodb:Scan"}, Resources: []string{"arn:aws:dynamodb:r:1:table/t"}},
		{Actions: []string{"dynamodb:GetItem", "dynamodb:Query"}, Resources: []string{"arn:a", "arn:b"}, Keys: &Keys{[]string{"L#*"}, true, true}},
	}
	if err != nil || !reflect.DeepEqual(policy, want) {
		t.Errorf("%+v, %v; want %+v", policy, err, want)
	}
}

// An unknown element is neither allowed nor refused: it is an error.
func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	const ok = `"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:t"`
	for name, c := range map[string]struct{ statement, says string }{
		"another element":      {ok + `, "NotPrincipal": {}`, "NotPrincipal"},
		"a denial":             {`"Effect": "Deny", "Action": "dynamodb:GetItem", "Resource": "arn:t"`, "Deny"},
		"no effect":            {`"Action": "dynamodb:GetItem", "Resource": "arn:t"`, "effect"},
		"no action":            {`"Effect": "Allow", "Resource": "arn:t"`, "no Action"},
		"no resource":          {`"Effect": "Allow", "Action": "dynamodb:GetItem"`, "no Resource"},
		"all actions":          {`"Effect": "Allow", "Action": "*", "Resource": "arn:t"`, "not one of DynamoDB's"},
		"pattern of actions":   {`"Effect": "Allow", "Action": "dynamodb:Get*", "Resource": "arn:t"`, "not one of DynamoDB's"},
		"pattern of services":  {`"Effect": "Allow", "Action": "dyn*:GetItem", "Resource": "arn:t"`, "not one of DynamoDB's"},
		"another case":         {`"Effect": "Allow", "Action": "DynamoDB:GetItem", "Resource": "arn:t"`, "not one of DynamoDB's"},
		"services mixed":       {`"Effect": "Allow", "Action": ["dynamodb:GetItem", "sqs:SendMessage"], "Resource": "arn:t"`, "not one of DynamoDB's"},
		"all resources":        {`"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"`, "not the ARN"},
		"pattern of resources": {`"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:t*"`, "not the ARN"},
		"unresolved resource":  {`"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": {"Ref": "T"}`, "Resource"},
		"another operator":     {ok + `, "Condition": {"StringEquals": {"dynamodb:LeadingKeys": "a"}}`, "operator is not known"},
		"any value":            {ok + `, "Condition": {"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": "a"}}`, "operator is not known"},
		"another key":          {ok + `, "Condition": {"ForAllValues:StringEquals": {"dynamodb:Attributes": "a"}}`, "something other"},
		"two keys":             {ok + `, "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "a", "aws:x": "b"}}`, "something other"},
		"null is true":         {ok + `, "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "a"}, "Null": {"dynamodb:LeadingKeys": "true"}}`, "only false"},
		"null alone":           {ok + `, "Condition": {"Null": {"dynamodb:LeadingKeys": "false"}}`, "no comparison"},
		"two comparisons":      {ok + `, "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "a"}, "ForAllValues:StringLike": {"dynamodb:LeadingKeys": "a"}}`, "another comparison"},
		"policy variable":      {ok + `, "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "L#${aws:username}"}}`, "policy variable"},
		"no object":            {`"Effect": ["Allow"]`, "Effect"},
	} {
		if _, err := Parse([]byte("[{" + c.statement + "}]")); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
	if _, err := Parse([]byte(`{}`)); err == nil {
		t.Error("an object is taken for a list of statements")
	}
}

func TestKeys(t *testing.T) {
	equals := func(patterns ...string) Keys { return Keys{Patterns: patterns, Required: true} }
	like := func(patterns ...string) Keys { return Keys{Patterns: patterns, Required: true, Like: true} }
	for _, c := range []struct {
		keys Keys
		of   []string
		want bool
	}{
		{equals("L#a"), []string{"L#a"}, true},
		{equals("L#a"), []string{"L#ab"}, false},
		{equals("L#a"), []string{"xL#a"}, false},
		{equals("L#a"), []string{"l#a"}, false},
		{equals("L#a", "L#b"), []string{"L#b", "L#a"}, true},
		{equals("L#a"), []string{"L#a", "L#b"}, false},
		{equals("L#a"), nil, false},
		{Keys{Patterns: []string{"L#a"}}, nil, true}, // why Null is needed
		{equals("L#*"), []string{"L#a"}, false},
		{equals("L#*"), []string{"L#*"}, true},
		{equals("L#${$}{x}"), []string{"L#${x}"}, true},
		{equals("L#.+"), []string{"L#ab"}, false},
		{like("L#*"), []string{"L#", "L#a", "L#a\nb"}, true},
		{like("L#*"), []string{"M#a"}, false},
		{like("L#?"), []string{"L#a"}, true},
		{like("L#?"), []string{"L#"}, false},
		{like("L#${*}"), []string{"L#*"}, true},
		{like("L#${*}"), []string{"L#a"}, false},
	} {
		if _, got := c.keys.match(c.of); got != c.want {
			t.Errorf("%+v matches %q: %v, want %v", c.keys, c.of, got, c.want)
		}
	}
}
