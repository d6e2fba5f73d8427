package template

import (
	"reflect"
	"strings"
	"testing"
)

const text = `{"Resources": {
	"T": {"Type": "AWS::DynamoDB::GlobalTable"},
	"R": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
	"S": {"Type": "AWS::IAM::Role", "Properties": {"ManagedPolicyArns": ["x"]}},
	"P": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "R"}], "PolicyDocument": {"Statement": [{"Resource": {"Fn::GetAtt": ["T", "Arn"]}}]}}},
	"Q": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "other"}]}}
}}`

func parsed(t *testing.T) *Template {
	t.Helper()
	tmpl, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return tmpl.Bound("T", "leases", "arn:leases")
}

func TestResolve(t *testing.T) {
	type object = map[string]any
	tmpl := parsed(t)
	got, err := tmpl.Resolve(object{"a": []any{object{"Ref": "T"}, object{"Fn::GetAtt": []any{"T", "Arn"}}, object{"Ref": "X"}, 1.0}})
	want := object{"a": []any{"leases", "arn:leases", "<X>", 1.0}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := tmpl.Resolve([]any{object{"Fn::Sub": "x"}}); err == nil {
		t.Error("a function that is not known is resolved")
	}
}

func TestOnly(t *testing.T) {
	tmpl := parsed(t)
	if id, _, err := tmpl.Only("AWS::DynamoDB::GlobalTable"); id != "T" || err != nil {
		t.Errorf("%s, %v; want T", id, err)
	}
	for _, kind := range []string{"AWS::IAM::Role", "AWS::S3::Bucket"} {
		if _, _, err := tmpl.Only(kind); err == nil {
			t.Errorf("there is just one %s", kind)
		}
	}
}

func TestStatements(t *testing.T) {
	tmpl := parsed(t)
	if got, err := tmpl.Statements("R"); err != nil || string(got) != `[{"Resource":"arn:leases"}]` {
		t.Errorf("%s, %v", got, err)
	}
	for role, says := range map[string]string{"S": "ManagedPolicyArns is not known", "T": "no such role", "X": "no such role"} {
		if _, err := tmpl.Statements(role); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", role, err, says)
		}
	}
	tmpl.Resources["M"] = Resource{Type: "AWS::IAM::ManagedPolicy"}
	if _, err := tmpl.Statements("R"); err == nil {
		t.Error("a managed policy is left out")
	}
	if _, err := Parse([]byte("[")); err == nil {
		t.Error("half a template is a template")
	}
}
