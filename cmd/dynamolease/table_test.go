package main

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// another makes a table beside the fixture's, with string keys of these names and without a TTL.
func (f *fixture) another(keys ...string) string {
	f.Helper()
	name := "another-" + strings.ToLower(rand.Text())
	input := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, key := range keys {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(key), AttributeType: types.ScalarAttributeTypeS})
		input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: types.KeyType("").Values()[i]})
	}
	if _, err := f.client.CreateTable(f.Context(), input); err != nil {
		f.Fatal(err)
	}
	return name
}

// onTheTable are all commands that work on the table.
var onTheTable = [][]string{
	{"leases", "orders"}, {"members", "shop"}, {"process", "writer-1"}, {"watch", "shop"}, {"release", "orders", "1", "--yes"},
	{"drain", "shop", "a", "--yes"}, {"undrain", "shop", "a", "--yes"}, {"reap", "--yes"},
}

// A TTL that is off is a warning, where the result is, and no failure.
func TestTableCheck(t *testing.T) {
	f := newFixture(t)
	var checked struct {
		Result, TTL string
		Warnings    []string
	}
	f.document(&checked, 0, "table", "check")
	if checked.Result != "as it must be" || checked.TTL != "ENABLED" || checked.Warnings == nil || len(checked.Warnings) > 0 {
		t.Errorf("checked %+v", checked)
	}
	name := f.another("pk", "sk")
	t.Setenv(tableVariable, name)
	out := f.expect(0, "warning: the table's TTL is off, dead rows stay\n", "", "table", "check")
	if strings.Contains(out, "as it must be") || !strings.Contains(out, "dynamolease table create turns the TTL on") {
		t.Error(out)
	}
	f.document(&checked, 0, "table", "check")
	if checked.Result == "as it must be" || checked.TTL != "DISABLED" || len(checked.Warnings) != 1 {
		t.Errorf("checked %+v", checked)
	}
	f.expect(0, "table "+name+": ready\n", "", "table", "create")
	f.expect(0, "table "+name+": as it must be\n", "", "table", "check")
}

// LS31: a check says of each purpose which permissions are missing, and of no other purpose. It changes nothing.
func TestTableCheckLS31(t *testing.T) {
	f := newFixture(t)
	url, transport := faultyEndpoint(t)
	check := func(flags ...string) []string {
		return append([]string{"table", "check", "--endpoint-url", url}, flags...)
	}
	purposes := [][]string{
		{"--group", "g", "--service", "s"}, {"--group", "g", "--group", "h", "--transactions"}, {"--group", "g", "--lease-checks"}, {"--node", "n"}, {"--reap"},
	}
	for _, flags := range purposes {
		f.expect(0, "permissions: all there\n", "", check(flags...)...)
	}
	var checked struct{ Permissions string }
	f.document(&checked, 0, check("--reap")...)
	if checked.Permissions != "all there" {
		t.Errorf("checked %+v", checked)
	}
	if out := f.expect(0, "as it must be", "", check()...); strings.Contains(out, "permissions") {
		t.Error(out)
	}
	f.expect(2, "", "--transactions and --lease-checks need a --group", check("--transactions")...)
	f.expect(2, "", "--group must not be empty", check("--group", "")...)
	for operation, missing := range map[string][]string{
		"GetItem":            {"GetItem rows of L#g, which the program needs to acquire leases", "", "", "GetItem rows of P#n", "GetItem rows of R#reaper"},
		"TransactWriteItems": {"", "UpdateItem in a TransactWriteItems rows of L#g", "ConditionCheckItem rows of L#g, which the program needs for Lease.Check", "UpdateItem in a TransactWriteItems rows of P#n", ""},
		"DeleteItem":         {"", "", "", "", "DeleteItem rows of P#-, which the program needs to delete dead rows"},
		"Scan":               {"", "", "", "", "grant dynamodb:Scan on the table"},
	} {
		heal := transport.Every(operation, dynamotest.AccessDenied())
		for i, flags := range purposes {
			switch {
			case missing[i] != "":
				f.expect(1, "", missing[i], check(flags...)...)
			case operation != "GetItem":
				f.expect(0, "all there", "", check(flags...)...)
			}
		}
		heal()
	}
}

// A table that is somebody else's gets words, and the way to look at it, from each command.
func TestTableOfSomebodyElse(t *testing.T) {
	for name, keys := range map[string][]string{"one key": {"id"}, "other names": {"a", "b"}, "the wrong way round": {"sk", "pk"}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			name := f.another(keys...)
			t.Setenv(tableVariable, name)
			for _, command := range onTheTable {
				if byKey := command[0] == "process" || command[0] == "reap"; byKey && keys[0] == "sk" {
					continue // a row that is asked for by both keys is not there, that is all
				}
				code, out, errs := call(t.Context(), command...)
				if code != 1 || out != "" || !strings.Contains(errs, "its keys may be others") || !strings.Contains(errs, "dynamolease table check --table "+name) ||
					!strings.Contains(errs, "ValidationException") {
					t.Errorf("%q: code %d, %s\n%s", command, code, out, errs)
				}
			}
			f.expect(1, "", "its keys do not fit; create it anew", "table", "check")
			f.expect(1, "", "its keys do not fit; create it anew", "table", "create")
			f.expect(0, keys[0]+" (HASH, S)", "", "table", "describe")
		})
	}
}

// So does one that is missing, with the SDK's own error behind.
func TestTableIsMissing(t *testing.T) {
	newFixture(t)
	t.Setenv(tableVariable, "missing")
	for _, command := range append(onTheTable, []string{"table", "check"}, []string{"table", "describe"}) {
		code, out, errs := call(t.Context(), command...)
		if code != 3 || out != "" || !strings.Contains(errs, `table "missing" does not exist`) || !strings.Contains(errs, "dynamolease table create --table missing\n") ||
			!strings.Contains(errs, "ResourceNotFoundException") {
			t.Errorf("%q: code %d, %s\n%s", command, code, out, errs)
		}
	}
}
