package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A fixture is a table written by the library. The commands find it by the environment.
type fixture struct {
	testing.TB
	table  string
	other  string // a table without a TTL, where one is needed
	client *dynamodb.Client
	store  *dynamolease.Store
	seeded bool
	epochs map[string]int64 // of the leases, by group and partition
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server := testkit.Server(t)
	if server.Endpoint() == "" {
		t.Skip("the fixtures need a database of their own")
	}
	transport := server.Transport()
	t.Cleanup(transport.Close)
	f := &fixture{TB: t, table: server.Table(t), client: transport.Client(), epochs: make(map[string]int64)}
	var err error
	if f.store, err = dynamolease.New(f.client, f.table); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.store.Close)
	t.Setenv(tableVariable, f.table)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.Endpoint())
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	return f
}

// seed writes the rows that the commands find.
func (f *fixture) seed() *fixture {
	f.Helper()
	if f.seeded {
		return f
	}
	f.seeded = true
	a, b := f.session("a"), f.session("b")
	for partition := range 3 {
		f.take(a, partition)
		f.take(b, partition+3)
	}
	f.plain("payments", 0, "worker-7", time.Minute)
	authority, err := processlease.NewAuthority(f.client, f.table, processlease.DefaultTTL)
	if err != nil {
		f.Fatal(err)
	}
	defer authority.Close()
	store, err := authority.StoreFor("writer-1")
	if err != nil {
		f.Fatal(err)
	}
	if _, err := store.TryAcquire(f.Context(), uuid.New()); err != nil {
		f.Fatal(err)
	}
	for partition := range 5 {
		f.bury(partition)
	}
	return f
}

func (f *fixture) session(node string) *dynamolease.Session {
	f.Helper()
	s, err := f.store.OpenSession(f.Context(), dynamolease.Node{Service: "shop", Name: node, Address: node + ".example:8080", Groups: []string{"orders"}}, time.Minute)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// take acquires a partition of orders in a session, and leaves a checkpoint.
func (f *fixture) take(s *dynamolease.Session, partition int) {
	f.Helper()
	lease, acquired, err := s.Acquire(f.Context(), "orders", partition)
	if err != nil || !acquired {
		f.Fatal(acquired, err)
	}
	f.epochs[fmt.Sprint("orders/", partition)] = lease.Epoch
	data := []byte(fmt.Sprintf("invoice %d", 4711+partition))
	if partition == 5 {
		data = []byte{0, 1, 2, 253, 254, 255}
	}
	if err := f.store.Checkpoint(f.Context(), lease, data); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) plain(group string, partition int, owner string, ttl time.Duration) dynamolease.Lease {
	f.Helper()
	lease, acquired, err := f.store.Acquire(f.Context(), group, partition, owner, ttl)
	if err != nil || !acquired {
		f.Fatal(lease, acquired, err)
	}
	return lease
}

// bury writes the row of a lease that was released long ago.
func (f *fixture) bury(partition int) {
	f.Helper()
	long := time.Now().Add(-48 * time.Hour)
	_, err := f.client.PutItem(f.Context(), &dynamodb.PutItemInput{TableName: &f.table, Item: map[string]types.AttributeValue{
		"pk":    &types.AttributeValueMemberS{Value: "L#former"},
		"sk":    &types.AttributeValueMemberS{Value: fmt.Sprintf("P#%010d", partition)},
		"rev":   &types.AttributeValueMemberS{Value: uuid.NewString()},
		"epoch": &types.AttributeValueMemberN{Value: fmt.Sprint(long.UnixMilli())},
		"ttl":   &types.AttributeValueMemberN{Value: fmt.Sprint(long.Unix())},
	}})
	if err != nil {
		f.Fatal(err)
	}
}

// prepare brings the table into the state that a command of the documentation expects.
func (f *fixture) prepare(args []string) {
	f.Helper()
	if args[0] == "table" {
		return
	}
	f.seed()
	if slices.Equal(args[:min(2, len(args))], []string{"release", "payments"}) {
		// The lease ends soon, and nobody renews it.
		if _, err := f.store.Release(f.Context(), "payments", 0, "worker-7"); err != nil {
			f.Fatal(err)
		}
		f.plain("payments", 0, "worker-7", 2*time.Second)
	}
}
