package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

func TestMain(m *testing.M) {
	os.Exit(testkit.Main(m))
}

// A world is a function, its table, the path between them, and what the function prints.
type world struct {
	*testing.T
	*function
	path *dynamotest.Transport
	raw  *dynamodb.Client
	out  output
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := testkit.Server(t)
	w := &world{T: t, path: server.Transport()}
	t.Cleanup(w.path.Close)
	w.raw = server.Client()
	log := slog.New(slog.NewJSONHandler(&w.out, nil))
	w.function = &function{settings: settings{table: server.Table(t)}, log: log, out: &w.out}
	store, err := dynamolease.New(w.path.Client(), w.settings.table, func(o *dynamolease.Options) { o.Logger = log })
	if err != nil {
		t.Fatal(err)
	}
	w.store = store
	return w
}

// dead puts rows of free leases that nobody needs any more; without leaves an attribute out.
func (w *world) dead(from, to int, without ...string) {
	w.Helper()
	for partition := from; partition < to; partition++ {
		item := map[string]types.AttributeValue{
			"pk":    &types.AttributeValueMemberS{Value: "L#orders"},
			"sk":    &types.AttributeValueMemberS{Value: fmt.Sprintf("P#%010d", partition)},
			"epoch": &types.AttributeValueMemberN{Value: "7"},
			"rev":   &types.AttributeValueMemberS{Value: "before"},
			"ttl":   &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(-time.Hour).Unix())},
		}
		maps.DeleteFunc(item, func(name string, _ types.AttributeValue) bool { return len(without) > 0 && name == without[0] })
		if _, err := w.raw.PutItem(w.Context(), &dynamodb.PutItemInput{TableName: &w.settings.table, Item: item}); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) left() int {
	w.Helper()
	out, err := w.raw.Scan(w.Context(), &dynamodb.ScanInput{TableName: &w.settings.table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		w.Fatal(err)
	}
	left := len(out.Items)
	for _, row := range out.Items {
		if row["sk"].(*types.AttributeValueMemberS).Value == "POSITION" { // the reaper's own
			left--
		}
	}
	return left
}

// output is what a function prints, line by line.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// lines are the lines with this message, decoded; those of metrics have none.
func (o *output) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []map[string]any
	for text := range strings.Lines(o.text.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if m, _ := line["msg"].(string); m == message {
			found = append(found, line)
		}
	}
	return found
}
