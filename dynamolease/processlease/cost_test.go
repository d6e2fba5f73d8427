package processlease_test

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

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A meter is a client that adds up what the store says its requests cost.
type meter struct {
	processlease.Client
	mu       sync.Mutex
	requests int
	units    float64
}

func (m *meter) count(capacity ...types.ConsumedCapacity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	for _, c := range capacity {
		m.units += aws.ToFloat64(c.CapacityUnits)
	}
}

// since returns what was used since the last call.
func (m *meter) since() (requests int, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests, units = m.requests, m.units
	m.requests, m.units = 0, 0
	return requests, units
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, in, optFns...)
	if err == nil {
		m.count(consumed(out.ConsumedCapacity)...)
	}
	return out, err
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.UpdateItem(ctx, in, optFns...)
	if err == nil {
		m.count(consumed(out.ConsumedCapacity)...)
	}
	return out, err
}

func (m *meter) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, optFns ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.TransactWriteItems(ctx, in, optFns...)
	if err == nil {
		m.count(out.ConsumedCapacity...)
	}
	return out, err
}

func consumed(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}

// metered is a boot whose requests are counted.
func (w *world) metered() (*boot, *meter) {
	w.Helper()
	b := w.boot()
	m := &meter{Client: b.path.Client()}
	authority, err := processlease.NewAuthority(m, w.table, ttl, func(o *processlease.Options) {
		o.Elapsed = b.elapsed
		o.FenceRetention = processlease.KeepFences // what it costs to date fences is not part of the takeover
	})
	if err != nil {
		w.Fatal(err)
	}
	b.authority = authority
	if b.store, err = authority.StoreFor(w.node); err != nil {
		w.Fatal(err)
	}
	return b, m
}

func TestCosts(t *testing.T) {
	costs := func(w *world, what string, m *meter, requests int, units float64) {
		w.Helper()
		if r, u := m.since(); r != requests || u != units {
			w.Errorf("%s: %d requests and %v units, want %d and %v", what, r, u, requests, units)
		}
	}
	for name, node := range map[string]string{"short": "writer-1", "longest": string(make([]byte, 255))} {
		subtest(t, name, func(w *world) {
			w.node = node
			a, meterA := w.metered()
			b, meterB := w.metered()
			a.acquire()
			costs(w, "acquisition", meterA, 2, 2)
			a.acquire()
			costs(w, "renewal", meterA, 1, 1)
			b.refused()
			costs(w, "refusal", meterB, 1, 1)
			o := b.watched()
			costs(w, "observation", meterB, 2, 2)
			b.tryTakeover(o)
			costs(w, "takeover", meterB, 1, 6)
			b.acquire()
			costs(w, "renewal after a takeover", meterB, 1, 1)
		})
	}
	subtest(t, "steady state", func(w *world) {
		a, meter := w.metered()
		a.manage()
		meter.since()
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		costs(w, "an hour of renewals every 2s", meter, 1800, 1800)
	})
}

// BenchmarkRenewal and BenchmarkTakeover report what one of them costs, besides its time against a local server.
func BenchmarkRenewal(b *testing.B) {
	benchmark(b, func(boots [2]*boot, _ int) { boots[0].acquire() })
}

func BenchmarkTakeover(b *testing.B) {
	benchmark(b, func(boots [2]*boot, round int) {
		next := boots[(round+1)%2]
		next.owner = uuid.New()
		o := next.observe()
		next.pass(2 * ttl)
		if out := next.tryTakeover(o); !out.Acquired {
			b.Fatalf("not taken over: %+v", out)
		}
	})
}

func benchmark(b *testing.B, do func(boots [2]*boot, round int)) {
	w := newWorld(b)
	first, meterA := w.metered()
	second, meterB := w.metered()
	first.acquire()
	boots := [2]*boot{first, second}
	do(boots, 0)
	meterA.since()
	meterB.since()
	rounds := 0
	for b.Loop() {
		rounds++
		do(boots, rounds)
	}
	ra, ua := meterA.since()
	rb, ub := meterB.since()
	b.ReportMetric(float64(ra+rb)/float64(rounds), "requests/op")
	b.ReportMetric((ua+ub)/float64(rounds), "units/op")
}
