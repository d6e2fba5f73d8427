package demo

import (
	"maps"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestResults(t *testing.T) {
	server := startServer(t)
	transport := server.Transport()
	t.Cleanup(transport.Close)
	table := server.Table(t)
	store, r := newStore(t, transport.Client(), table), &results{transport.Client(), table}
	lease, acquired, err := store.Acquire(t.Context(), group, 5, "w1", testTTL)
	if err != nil || !acquired {
		t.Fatalf("Acquire = %v, %v", acquired, err)
	}
	first, second := chunk{0, 5, 100, "w1", lease.Epoch}, chunk{5, 7, 20, "w1", lease.Epoch}
	transport.Next("TransactWriteItems", dynamotest.LoseResponse()) // an addition is repeated only if it must be
	if err := store.Transact(t.Context(), lease, nil, r.add(5, first, false)); err != nil {
		t.Fatal(err)
	}
	if err := store.Transact(t.Context(), lease, nil, r.add(5, second, true)); err != nil {
		t.Fatal(err)
	}
	got, err := r.read(t.Context())
	want := map[int]result{5: {5, tally{files: 7, words: 120}, []chunk{first, second}, true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read = %+v, %v, want %+v", got, err, want)
	}
}

func TestDecodeResult(t *testing.T) {
	good := row{
		"sk": text("P#0000000005"), "words": number(3), "files": number(1), "complete": &types.AttributeValueMemberBOOL{},
		"chunks": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("0-1 3 words w1 7")}},
	}
	want := result{partition: 5, tally: tally{files: 1, words: 3}, chunks: []chunk{{0, 1, 3, "w1", 7}}}
	if got, err := decodeResult(good); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decodeResult = %+v, %v, want %+v", got, err, want)
	}
	list := func(v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{v}}
	}
	for name, bad := range map[string]row{
		"no key":           {"sk": nil},
		"another key":      {"sk": text("Q#5")},
		"words no number":  {"words": text("3")},
		"files no number":  {"files": text("3")},
		"complete no bool": {"complete": text("true")},
		"no chunks":        {"chunks": nil},
		"empty chunks":     {"chunks": &types.AttributeValueMemberL{}},
		"chunk no string":  {"chunks": list(number(1))},
		"chunk cut short":  {"chunks": list(text("0-1 3 words"))},
	} {
		item := maps.Clone(good)
		maps.Copy(item, bad)
		if got, err := decodeResult(item); err == nil {
			t.Errorf("%s: decodeResult = %+v, want an error", name, got)
		}
	}
}
