package dynamolease_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const ttl = 10 * time.Second

func TestMain(m *testing.M) {
	os.Exit(testkit.Main(m))
}

// A world is a table, and the names that one test uses in it.
type world struct {
	*testkit.World
	group   string
	service string
}

// inVirtualTime runs a test in a world of its own whose time is virtual.
func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	testkit.InVirtualTime(t, func(w *testkit.World) { test(named(w)) })
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return named(testkit.NewWorld(t))
}

func named(w *testkit.World) *world {
	return &world{World: w, group: "orders-" + w.ID, service: "shop-" + w.ID}
}

// A node is one process of the world with a store of its own.
type node struct {
	*testkit.TestNode
	*dynamolease.Store
	w   *world
	raw *dynamodb.Client // past the store, for looking and meddling

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
	n.Path.Reset()
	return n
}

// coldNode is a node that has just started.
func (w *world) coldNode(optFns ...func(*dynamolease.Options)) *node {
	w.Helper()
	n := &node{TestNode: w.NewNode(), w: w}
	options := []func(*dynamolease.Options){func(o *dynamolease.Options) { o.Elapsed = n.Clocks() }}
	n.raw = n.Path.Client()
	store, err := dynamolease.New(n.raw, w.Table, append(options, optFns...)...)
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
func (n *node) row(partition int) testkit.Item {
	n.w.Helper()
	return n.w.Get(n.w.leaseKey(partition))
}

func (w *world) leaseKey(partition int) testkit.Item {
	return key("L#"+w.group, fmt.Sprintf("P#%010d", partition))
}

func key(pk, sk string) testkit.Item       { return testkit.Key(pk, sk) }
func text(s string) types.AttributeValue   { return testkit.Text(s) }
func number(s string) types.AttributeValue { return testkit.Number(s) }

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
