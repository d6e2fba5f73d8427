package applied_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

const (
	partitions = 4
	ttl        = 9 * time.Second
	patience   = 2 * time.Minute // of virtual time
)

// A path leads one process to the table, with its own transport, under a policy.
type path struct {
	transport *dynamotest.Transport
	client    *dynamodb.Client
	origin    time.Time
}

// newPath must be called in a bubble. Without a guard, everything is allowed.
func (w *world) newPath(guard *iamproxy.Guard) *path {
	transport := w.server.VirtualTransport()
	client := transport.Client(func(o *dynamodb.Options) {
		if guard != nil {
			o.HTTPClient = &http.Client{Transport: guard.Transport(transport)}
		}
	})
	return &path{transport, client, time.Now()}
}

func (p *path) elapsed() (atLeast, atMost time.Duration) {
	d := time.Since(p.origin)
	return d, d
}

func (w *world) store(p *path) (*dynamolease.Store, error) {
	return dynamolease.New(p.client, w.table, func(o *dynamolease.Options) {
		o.Elapsed, o.Logger = p.elapsed, slog.New(slog.DiscardHandler)
	})
}

// A fleet is the nodes of a service, and the results of their work.
type fleet struct {
	*world
	guard *iamproxy.Guard

	mu     sync.Mutex
	owners map[int]string // the node that works a partition, once it has committed something
	failed error
}

// runFleet lets two nodes work under a policy, in virtual time: one alone, then both, then one of
// them dies. It returns the first fault: failed work, a request that was refused, or a permission
// that nothing needed.
func runFleet(t *testing.T, w *world, policy iamproxy.Policy) (err error) {
	t.Helper()
	// Writes besides leases are the affair of the program, and need their own grant.
	own := iamproxy.NewGuard(append(policy, iamproxy.Statement{
		Actions: []string{"dynamodb:PutItem"}, Resources: []string{iamproxy.TableARN(w.results)},
	}), "pk")
	synctest.Test(t, func(*testing.T) {
		f := &fleet{world: w, guard: own, owners: make(map[int]string)}
		err = f.run()
	})
	return err
}

func (f *fleet) run() (err error) {
	a, err := f.start("a")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	if err := f.until("a works all", func() bool { return f.share("a") == partitions }); err != nil {
		return err
	}
	b, err := f.start("b")
	if err != nil {
		return err
	}
	defer func() { _ = b.stop() }() // it is dead by then
	if err := f.until("both work half", func() bool { return f.share("a") == 2 && f.share("b") == 2 }); err != nil {
		return err
	}
	b.path.transport.Close() // like kill -9, as far as the table can tell
	if err := f.until("a has taken over", func() bool { return f.share("a") == partitions }); err != nil {
		return err
	}
	return unneeded(f.guard)
}

// until waits for something. It gives up once a request was refused or work has failed.
func (f *fleet) until(what string, is func() bool) error {
	for began := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		if err := errors.Join(f.guard.Refused(), f.failure()); err != nil {
			return fmt.Errorf("until %s: %w", what, err)
		}
		if time.Since(began) > patience {
			return fmt.Errorf("until %s: not within %v", what, patience)
		}
	}
	return f.guard.Refused()
}

func (f *fleet) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *fleet) share(node string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, owner := range f.owners {
		if owner == node {
			n++
		}
	}
	return n
}

// A member is a running node of the fleet.
type member struct {
	path   *path
	store  *dynamolease.Store
	cancel context.CancelFunc
	over   chan error
}

// start does what a program does: it checks the table, and joins.
func (f *fleet) start(node string) (*member, error) {
	m := &member{path: f.newPath(f.guard), over: make(chan error, 1)}
	var err error
	if m.store, err = f.store(m.path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	if err := m.store.CheckTable(ctx); err != nil {
		cancel()
		m.path.transport.Close()
		return nil, err
	}
	handler := func(ctx context.Context, lease coordinator.Assignment) error {
		f.note(lease.Partition, node, f.work(ctx, m, lease))
		<-ctx.Done()
		return context.Cause(ctx)
	}
	go func() {
		m.over <- coordinator.Run(ctx, m.store, coordinator.Config{
			Service: "shop", Node: node, Address: node + ":1", TTL: ttl, Logger: slog.New(slog.DiscardHandler),
			Groups: []coordinator.Group{{Name: "orders", Partitions: partitions, Handler: handler}},
		})
	}()
	return m, nil
}

func (m *member) stop() error {
	m.cancel()
	err := <-m.over
	m.store.Close()
	m.path.transport.Close()
	return err
}

// work commits a result together with a checkpoint, another result in a transaction of its own, and
// then a checkpoint alone.
func (f *fleet) work(ctx context.Context, m *member, lease coordinator.Assignment) error {
	id := fmt.Sprintf("%d under %d", lease.Partition, lease.Epoch)
	if err := m.store.Transact(ctx, lease.Lease, []byte("began "+id), f.result(id)); err != nil {
		return err
	}
	_, err := m.path.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{lease.Check(f.table), f.result(id + ", checked")},
	})
	if err != nil {
		return err
	}
	return m.store.Checkpoint(ctx, lease.Lease, []byte("finished "+id))
}

// result returns the write of a result, which must not be there yet.
func (f *fleet) result(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &f.results, Item: key("result", id), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}

func (f *fleet) note(partition int, node string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed = errors.Join(f.failed, fmt.Errorf("%s, partition %d: %w", node, partition, err))
		return
	}
	f.owners[partition] = node
}
