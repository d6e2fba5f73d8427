package processlease_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const ttl = processlease.DefaultTTL

// A world is a table, and the node that one test fights for in it.
type world struct {
	*testkit.World
	node string
}

// inVirtualTime runs a test in a world of its own whose time is virtual.
func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	testkit.InVirtualTime(t, func(w *testkit.World) { test(named(w)) })
}

// subtest runs a test under its number in virtual time, in a world of its own.
func subtest(t *testing.T, name string, test func(w *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return named(testkit.NewWorld(t))
}

func named(w *testkit.World) *world { return &world{World: w, node: "writer-" + w.ID} }

// A boot is one process that wants to be the world's node: its own path to the server, its own clocks, its own owner.
type boot struct {
	*testkit.TestNode
	w         *world
	authority *processlease.Authority
	store     *processlease.Identity
	owner     uuid.UUID
}

func (w *world) boot(optFns ...func(*processlease.Options)) *boot { return w.bootWith(ttl, optFns...) }

// bootAs is a boot of another node of the same table.
func (w *world) bootAs(node string) *boot {
	w.Helper()
	other := *w
	other.node = node
	return other.boot()
}

func (w *world) bootWith(ttl time.Duration, optFns ...func(*processlease.Options)) *boot {
	w.Helper()
	b := &boot{TestNode: w.NewNode(), w: w, owner: uuid.New()}
	options := []func(*processlease.Options){func(o *processlease.Options) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Elapsed = b.Clocks()
	}}
	authority, err := processlease.NewAuthority(b.Path.Client(), w.Table, ttl, append(options, optFns...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(authority.Close)
	b.authority = authority
	if b.store, err = authority.Identity(w.node); err != nil {
		w.Fatal(err)
	}
	return b
}

// outcome fails the test on an error.
func (b *boot) outcome(out processlease.Result, err error) processlease.Result {
	b.w.Helper()
	if err != nil {
		b.w.Fatal(err)
	}
	return out
}

func (b *boot) try() processlease.Result {
	b.w.Helper()
	return b.outcome(b.store.TryAcquire(b.w.Context(), b.owner))
}

// acquire expects to get the lease, or to renew it.
func (b *boot) acquire() processlease.Record {
	b.w.Helper()
	out := b.try()
	if !out.Acquired {
		b.w.Fatalf("not acquired: held by %v", out.Record)
	}
	return out.Record
}

// refused expects that another boot holds the lease, and returns its record.
func (b *boot) refused() processlease.Record {
	b.w.Helper()
	out := b.try()
	if out.Acquired {
		b.w.Fatalf("acquired %v, want it held", out.Record)
	}
	return out.Record
}

func (b *boot) observe() processlease.Observation {
	b.w.Helper()
	o, err := b.store.ObserveRival(b.w.Context(), b.owner)
	if err != nil {
		b.w.Fatal(err)
	}
	return o
}

// watched is an observation that has lasted for a full ttl, in virtual time.
func (b *boot) watched() processlease.Observation {
	b.w.Helper()
	o := b.observe()
	time.Sleep(o.Remaining())
	return o
}

func (b *boot) tryTakeover(o processlease.Observation) processlease.Result {
	b.w.Helper()
	return b.outcome(b.store.TryTakeover(b.w.Context(), o))
}

// takeOver observes whoever holds the lease and takes it over, in virtual time.
func (b *boot) takeOver() processlease.Record {
	b.w.Helper()
	out := b.tryTakeover(b.watched())
	if !out.Acquired {
		b.w.Fatalf("not taken over: %v", out.Record)
	}
	return out.Record
}

func (b *boot) load() processlease.Record {
	b.w.Helper()
	lease, found, err := b.store.Load(b.w.Context())
	if err != nil || !found {
		b.w.Fatalf("load: found %v, %v", found, err)
	}
	return lease
}

func (b *boot) participant() processlease.Participant {
	return processlease.Participant{Node: b.w.node, Owner: b.owner}
}

// fence fences another boot, in time.
func (b *boot) fence(of *boot) (processlease.Fence, error) {
	b.w.Helper()
	deadline, err := b.authority.FencingDeadline(5 * time.Second)
	if err != nil {
		b.w.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(b.w.Context(), deadline)
	defer cancel()
	return b.authority.FenceIncarnation(ctx, of.participant())
}

func (b *boot) fenced(of *boot) processlease.Fence {
	b.w.Helper()
	f, err := b.fence(of)
	if err != nil {
		b.w.Fatal(err)
	}
	return f
}

// manage acquires the lease and lets a manager renew it.
func (b *boot) manage(optFns ...func(*processlease.ManagerOptions)) *processlease.Manager {
	b.w.Helper()
	m, err := processlease.NewManager(b.w.Context(), b.try(), optFns...)
	if err != nil {
		b.w.Fatal(err)
	}
	b.w.Cleanup(m.Close)
	return m
}

func every(interval time.Duration) func(*processlease.ManagerOptions) {
	return func(o *processlease.ManagerOptions) { o.Interval = interval }
}

// writes counts the requests of a boot that write.
func (b *boot) writes() int { return b.Path.Count("UpdateItem") + b.Path.Count("TransactWriteItems") }

type row = testkit.Item

func text(s string) types.AttributeValue   { return testkit.Text(s) }
func number(s string) types.AttributeValue { return testkit.Number(s) }

func (w *world) key(sk string) row { return testkit.Key("P#"+w.node, sk) }

// row reads a row of the node past all stores and faults. It is empty if it is not there.
func (w *world) row(sk string) row {
	w.Helper()
	return w.Get(w.key(sk))
}

// rows lists the sort keys of the node's rows.
func (w *world) rows() []string {
	w.Helper()
	out, err := w.Direct().Query(context.Background(), &dynamodb.QueryInput{
		TableName: &w.Table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: row{":pk": text("P#" + w.node)},
	})
	if err != nil {
		w.Fatal(err)
	}
	var keys []string
	for _, r := range out.Items {
		keys = append(keys, r["sk"].(*types.AttributeValueMemberS).Value)
	}
	return keys
}

// meddle changes one attribute of a row, or removes it when value is nil.
func (w *world) meddle(sk, attribute string, value types.AttributeValue) {
	w.Helper()
	r := w.row(sk)
	if r[attribute] = value; value == nil {
		delete(r, attribute)
	}
	w.Put(r)
}

func (w *world) remove(sk string) {
	w.Helper()
	w.Delete(w.key(sk))
}
