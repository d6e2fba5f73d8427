package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// spoil writes a row that the library cannot read.
func (f *fixture) spoil(pk, sk string) {
	f.Helper()
	_, err := f.client.PutItem(f.Context(), &dynamodb.PutItemInput{TableName: &f.table, Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		"epoch": &types.AttributeValueMemberS{Value: "\x1b[2Jbroken"},
	}})
	if err != nil {
		f.Fatal(err)
	}
}

// A malformed row is named and hides no other row, because an operator in trouble needs the others.
func TestMalformedRows(t *testing.T) {
	f := newFixture(t).seed()
	f.spoil("L#orders", "P#0000000004")
	f.spoil("M#shop", "N#\x1b[2Jbroken")
	const lease, member = "malformed row L#orders / P#0000000004", "malformed row M#shop / N#"
	if out := f.expect(1, "invoice 4714", lease, "leases", "orders"); strings.Contains(out, "\n4 ") {
		t.Error(out)
	}
	const left, look = "\nwhat cannot be read is left out\n", "\nsomebody has to look at the row: see \"Rows that cannot be read\" in docs/operations.md\n"
	f.expect(1, "", left[:len(left)-1]+look, "leases", "orders")
	f.expect(1, "b.example:8080", member, "members", "shop")
	f.expect(1, "", left[:len(left)-1]+look, "members", "shop")
	if _, _, errs := call(t.Context(), "members", "shop"); strings.Contains(errs, "\x1b") {
		t.Errorf("printed %q", errs)
	}
	var leases []struct{ Partition int }
	f.document(&leases, 1, "leases", "orders")
	if len(leases) != 5 {
		t.Errorf("leases: %+v", leases)
	}
	var standing struct{ Malformed []string }
	f.document(&standing, 0, "drain", "shop", "a", "--yes")
	if len(standing.Malformed) != 2 {
		t.Errorf("drained: %+v", standing)
	}
	f.expect(0, "left out: "+lease, "", "undrain", "shop", "a", "--yes")
	f.expect(0, "the order stands", "orders/3 is held by b", "release", "orders", "3", "--yes", "--wait", "0s")
	f.expect(1, "", lease, "release", "orders", "4", "--yes", "--wait", "0s")
	if _, _, errs := call(t.Context(), "release", "orders", "4", "--yes"); strings.Contains(errs, "left out") || !strings.HasSuffix(errs, look) {
		t.Error(errs)
	}
	_, out := f.run([]string{"watch", "shop"})
	for _, part := range []string{"a: 3 of orders; b: 2 of orders", lease, member} {
		if !strings.Contains(out, part) || strings.Contains(out, "\x1b") {
			t.Errorf("no %q in %q", part, out)
		}
	}
}
