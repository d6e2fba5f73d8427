package dynamolease_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const ttl = 10 * time.Second

func TestMain(m *testing.M) {
	os.Exit(testkit.Main(m))
}

func startServer(t testing.TB) *dynamotest.Server {
	t.Helper()
	return testkit.Server(t)
}

// A world is a table, and the names that one test uses in it.
type world struct {
	testing.TB
	server  *dynamotest.Server
	table   string
	group   string
	service string
	virtual bool
}

// inVirtualTime runs a test in a bubble whose clock only moves when all wait, against the real server. The Date of its
// responses is the bubble's time.
func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		bubble := *w
		bubble.TB, bubble.virtual = t, true
		test(&bubble)
	})
}

func newWorld(t testing.TB) *world {
	t.Helper()
	s := startServer(t)
	id := uuid.NewString()[:8]
	return &world{TB: t, server: s, table: s.Table(t), group: "orders-" + id, service: "shop-" + id}
}

// A node is one process of the world: its own path to the server, its own clocks, its own store.
type node struct {
	*dynamolease.Store
	w    *world
	path *dynamotest.Transport
	raw  *dynamodb.Client // past the store, for looking and meddling
	clock

	session *dynamolease.Session // where a test has one for each node
	lease   dynamolease.Lease    // likewise
}

// node is a node that has been there for a while: it knows the store's time.
func (w *world) node(optFns ...func(*dynamolease.Options)) *node {
	w.Helper()
	n := w.coldNode(optFns...)
	if _, err := n.Members(w.Context(), "nobody"); err != nil {
		w.Fatal(err)
	}
	n.path.Reset()
	return n
}

// coldNode is a node that has just started.
func (w *world) coldNode(optFns ...func(*dynamolease.Options)) *node {
	w.Helper()
	path := w.server.Transport
	if w.virtual {
		path = w.server.VirtualTransport
	}
	n := &node{w: w, path: path(), clock: newClock()}
	w.Cleanup(n.path.Close)
	options := []func(*dynamolease.Options){func(o *dynamolease.Options) {
		if w.virtual {
			o.Elapsed = n.Elapsed
		}
	}}
	n.raw = n.path.Client()
	store, err := dynamolease.New(n.raw, w.table, append(options, optFns...)...)
	if err != nil {
		w.Fatal(err)
	}
	n.Store = store
	w.Cleanup(store.Close)
	return n
}

// acquire acquires a partition of the world's group and fails the test if it cannot.
func (n *node) acquire(partition int, owner string) dynamolease.Lease {
	n.w.Helper()
	lease, acquired, err := n.Acquire(n.w.Context(), n.w.group, partition, owner, ttl)
	if err != nil || !acquired {
		n.w.Fatalf("acquire %d for %s: %+v, %v, %v", partition, owner, lease, acquired, err)
	}
	return lease
}

// refused expects that another owner holds the partition, and returns its lease.
func (n *node) refused(partition int, owner string) dynamolease.Lease {
	n.w.Helper()
	lease, acquired, err := n.Acquire(n.w.Context(), n.w.group, partition, owner, ttl)
	if err != nil || acquired {
		n.w.Fatalf("acquire %d for %s: want refused, got %+v, %v, %v", partition, owner, lease, acquired, err)
	}
	return lease
}

func (n *node) renew(owner string, partitions ...int) []dynamolease.Lease {
	n.w.Helper()
	leases, err := n.Renew(n.w.Context(), n.w.group, partitions, owner, ttl)
	if err != nil {
		n.w.Fatalf("renew %v for %s: %v", partitions, owner, err)
	}
	return leases
}

func (n *node) release(partition int, owner string) bool {
	n.w.Helper()
	released, err := n.Release(n.w.Context(), n.w.group, partition, owner)
	if err != nil {
		n.w.Fatalf("release %d for %s: %v", partition, owner, err)
	}
	return released
}

func (n *node) owners() []dynamolease.Lease {
	n.w.Helper()
	leases, err := n.Owners(n.w.Context(), n.w.group)
	if err != nil {
		n.w.Fatalf("owners: %v", err)
	}
	return leases
}

func (n *node) heartbeat(name, address string, groups ...string) dynamolease.Member {
	n.w.Helper()
	member, err := n.Heartbeat(n.w.Context(), dynamolease.Node{Service: n.w.service, Name: name, Address: address, Groups: groups}, ttl)
	if err != nil {
		n.w.Fatalf("heartbeat of %s: %v", name, err)
	}
	return member
}

func (n *node) members() []dynamolease.Member {
	n.w.Helper()
	members, err := n.Members(n.w.Context(), n.w.service)
	if err != nil {
		n.w.Fatalf("members: %v", err)
	}
	return members
}

func (n *node) leave(name string) {
	n.w.Helper()
	if err := n.Leave(n.w.Context(), n.w.service, name); err != nil {
		n.w.Fatalf("leave of %s: %v", name, err)
	}
}

// row reads the row of a partition past the store.
func (n *node) row(partition int) map[string]types.AttributeValue {
	n.w.Helper()
	out, err := n.w.direct().GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &n.w.table, Key: n.w.leaseKey(partition), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		n.w.Fatal(err)
	}
	return out.Item
}

// direct is a client past all stores and faults.
func (w *world) direct() *dynamodb.Client {
	path := w.server.Transport
	if w.virtual {
		path = w.server.VirtualTransport
	}
	transport := path()
	w.Cleanup(transport.Close)
	return transport.Client()
}

func (w *world) leaseKey(partition int) map[string]types.AttributeValue {
	return key("L#"+w.group, fmt.Sprintf("P#%010d", partition))
}

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text(pk), "sk": text(sk)}
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// expire waits until every lease of ttl that is there now has surely expired, in virtual time.
func (w *world) expire() { time.Sleep(ttl + graceOfExpiry) }

// graceOfExpiry is by how much the store's bounds may delay the end of an expired lease: slack, the whole second of
// the Date header, and margins, on the writer's side and on the judge's.
const graceOfExpiry = 5 * time.Second

// partitionsOf lists the partitions of leases.
func partitionsOf(leases []dynamolease.Lease) string {
	var list []string
	for _, lease := range leases {
		list = append(list, fmt.Sprint(lease.Partition))
	}
	return strings.Join(list, " ")
}
