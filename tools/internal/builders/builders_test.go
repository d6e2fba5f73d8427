package builders

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	sdk "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// BenchmarkExpression builds the update of a lease's renewal, with the store's own builder and with
// that of the SDK.
func BenchmarkExpression(b *testing.B) {
	b.Run("rowstore", func(b *testing.B) {
		b.ReportAllocs()
		table := &rowstore.Table{Name: "leases"}
		for b.Loop() {
			table.Update(rowstore.Key{PK: "L#orders", SK: "P#0000000007"}, rowstore.Condition{Revs: []string{"r1", "r2"}}, []rowstore.Attribute{
				{Name: "epoch", Value: rowstore.Number[int64](1767225600000)}, {Name: "rev", Value: rowstore.Text("r3")},
				{Name: "owner", Value: rowstore.Text("node-1")}, {Name: "exp", Value: rowstore.Number[int64](1767225610000)},
				{Name: "service"}, {Name: "session"}, {Name: "ttl", Value: rowstore.Number[int64](1767312010)}, {Name: "revoked"},
				{Name: "lasts", Value: rowstore.Number[int64](10_000)},
			})
		}
	})
	b.Run("sdk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			update := sdk.Set(sdk.Name("epoch"), sdk.Value(1767225600000)).Set(sdk.Name("rev"), sdk.Value("r3")).
				Set(sdk.Name("owner"), sdk.Value("node-1")).Set(sdk.Name("exp"), sdk.Value(1767225610000)).
				Remove(sdk.Name("service")).Remove(sdk.Name("session")).Set(sdk.Name("ttl"), sdk.Value(1767312010)).Remove(sdk.Name("revoked")).
				Set(sdk.Name("lasts"), sdk.Value(10_000))
			condition := sdk.Name("rev").In(sdk.Value("r1"), sdk.Value("r2"))
			if _, err := sdk.NewBuilder().WithUpdate(update).WithCondition(condition).Build(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

type lease struct {
	PK    string `dynamodbav:"pk"`
	SK    string `dynamodbav:"sk"`
	Owner string `dynamodbav:"owner"`
	Epoch int64  `dynamodbav:"epoch"`
	Exp   int64  `dynamodbav:"exp"`
	TTL   int64  `dynamodbav:"ttl"`
	Rev   string `dynamodbav:"rev"`
}

func item() rowstore.Item {
	return rowstore.Item{"pk": rowstore.Text("L#orders"), "sk": rowstore.Text("P#0000000007"), "owner": rowstore.Text("node-1"),
		"epoch": rowstore.Number[int64](1767225600000), "exp": rowstore.Number[int64](1767225610000),
		"ttl": rowstore.Number[int64](1767312010), "rev": rowstore.Text("r3")}
}

// decode reads the row of a lease with the store's own decoder.
func decode(row rowstore.Item) (lease, error) {
	d := rowstore.Decode(row, func(k rowstore.Key, attribute, problem string) error {
		return fmt.Errorf("%v: %s %s", k, attribute, problem)
	})
	l := lease{d.Key.PK, d.Key.SK, d.Text("owner"), d.Positive("epoch"), d.Positive("exp"), d.Positive("ttl"), d.Text("rev")}
	return l, d.Err
}

// BenchmarkDecode reads the row of a lease, with the store's own decoder and with that of the SDK.
func BenchmarkDecode(b *testing.B) {
	row := item()
	b.Run("rowstore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if l, err := decode(row); err != nil || l.Epoch == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var l lease
			if err := attributevalue.UnmarshalMap(row, &l); err != nil || l.Epoch == 0 {
				b.Fatal(err)
			}
		}
	})
}

// The SDK's decoder reads rows that the store's own makes an error of: such a row must never pass for
// a free lease, nor for one of another owner.
func TestOnlyOurDecoderIsStrict(t *testing.T) {
	for name, change := range map[string]func(rowstore.Item){
		"a missing owner":       func(r rowstore.Item) { delete(r, "owner") },
		"a number for an owner": func(r rowstore.Item) { r["owner"] = rowstore.Number[int64](5) },
		"an empty owner":        func(r rowstore.Item) { r["owner"] = rowstore.Text("") },
		"a negative epoch":      func(r rowstore.Item) { r["epoch"] = rowstore.Number[int64](-5) },
	} {
		row := item()
		change(row)
		var l lease
		if err := attributevalue.UnmarshalMap(row, &l); err != nil {
			t.Errorf("the SDK's decoder refuses %s by now: %v", name, err)
		}
		if _, err := decode(row); err == nil {
			t.Errorf("the store's decoder reads %s", name)
		}
	}
}
