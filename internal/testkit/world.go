package testkit

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A World is what one test has to itself: a table on the package's database, the nodes that use it, and a time that may be
// virtual.
type World struct {
	testing.TB
	Server  *dynamotest.Server
	Table   string
	ID      string // makes names of this world's own, where a table is shared
	virtual bool
}

// NewWorld is a world in real time.
func NewWorld(t testing.TB) *World {
	t.Helper()
	s := Server(t)
	return &World{TB: t, Server: s, Table: s.Table(t), ID: uuid.NewString()[:8]}
}

// InVirtualTime runs a test in a bubble whose clock only moves when all wait, against the real server. The Date of its
// responses is the bubble's time.
//
// Worlds are apart, so tests in virtual time run beside each other: it marks t as parallel. A test that calls it must
// not change what other tests see, nor go on with what a subtest has found.
func InVirtualTime(t *testing.T, test func(w *World)) {
	t.Helper()
	parallel(t)
	w := NewWorld(t) // outside: the server must not belong to the bubble
	synctest.Test(t, func(t *testing.T) {
		bubble := *w
		bubble.TB, bubble.virtual = t, true
		test(&bubble)
	})
}

// marked are the tests that are parallel already: each may be marked once.
var marked sync.Map

func parallel(t *testing.T) {
	if _, already := marked.LoadOrStore(t, true); !already {
		t.Cleanup(func() { marked.Delete(t) })
		t.Parallel()
	}
}

// A Node is one process of the world: its own path to the server, and its own clocks.
type TestNode struct {
	*TestClock
	Path *dynamotest.Transport

	world *World
}

// NewNode makes a node whose clocks are right. Its path is closed when the test ends.
func (w *World) NewNode() *TestNode {
	return &TestNode{TestClock: NewClock(), Path: w.path(), world: w}
}

// Clocks is what a store of the node is to measure elapsed time with: the node's own clocks in virtual time. It is nil in real
// time, for the clocks of the system.
func (n *TestNode) Clocks() func() (atLeast, atMost time.Duration) {
	if !n.world.virtual {
		return nil
	}
	return n.Elapsed
}

func (w *World) path() *dynamotest.Transport {
	open := w.Server.Transport
	if w.virtual {
		open = w.Server.VirtualTransport
	}
	path := open()
	w.Cleanup(path.Close)
	return path
}

// Direct is a client past all nodes and their faults, for looking and meddling.
func (w *World) Direct() *dynamodb.Client { return w.path().Client() }

// An Item is a row, or its key.
type Item = map[string]types.AttributeValue

// Key is the primary key of a row.
func Key(pk, sk string) Item { return Item{"pk": Text(pk), "sk": Text(sk)} }

// Text is a string as an attribute.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is a number as an attribute.
func Number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// Get reads a row, strongly consistent. It is empty where there is none.
func (w *World) Get(key Item) Item {
	w.Helper()
	out, err := w.Direct().GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &w.Table, Key: key, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		w.Fatal(err)
	}
	return out.Item
}

// Put writes a row, whatever is there.
func (w *World) Put(row Item) {
	w.Helper()
	if _, err := w.Direct().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &w.Table, Item: row}); err != nil {
		w.Fatal(err)
	}
}

// Delete deletes a row, as an operator or the table's TTL would.
func (w *World) Delete(key Item) {
	w.Helper()
	if _, err := w.Direct().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &w.Table, Key: key}); err != nil {
		w.Fatal(err)
	}
}
