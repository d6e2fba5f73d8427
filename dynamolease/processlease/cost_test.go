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
	m := &meter{Client: b.Path.Client()}
	authority, err := processlease.NewAuthority(m, w.Table, ttl, func(o *processlease.Options) {
		o.Elapsed = b.Elapsed
		o.FenceRetention = processlease.KeepFences // what it costs to date fences is not part of the takeover
	})
	if err != nil {
		w.Fatal(err)
	}
	b.authority = authority
	if b.store, err = authority.Identity(w.node); err != nil {
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
			costs(w, "acquisition", meterA, 3, 3)
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
	w := newWorld(b)
	first, meter := w.metered()
	first.acquire()
	meter.since()
	for b.Loop() {
		first.acquire()
	}
	requests, units := meter.since()
	b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
	b.ReportMetric(units/float64(b.N), "units/op")
}

func BenchmarkTakeover(b *testing.B) {
	w := newWorld(b)
	w.boot().acquire()
	rival, meter := w.metered()
	var requests, units float64
	for b.Loop() {
		b.StopTimer()
		rival.owner = uuid.New() // another boot each time
		o := rival.observe()
		rival.Pass(2 * ttl)
		meter.since()
		b.StartTimer()
		if out := rival.tryTakeover(o); !out.Acquired {
			b.Fatalf("not taken over: %+v", out)
		}
		r, u := meter.since()
		requests, units = requests+float64(r), units+u
	}
	b.ReportMetric(requests/float64(b.N), "requests/op")
	b.ReportMetric(units/float64(b.N), "units/op")
}

// BenchmarkManagerValid is the hot path as a program has it, with the system's clocks.
func BenchmarkManagerValid(b *testing.B) {
	m := newWorld(b).bootWith(time.Hour).manage()
	b.ReportAllocs()
	for b.Loop() {
		if !m.Valid() {
			b.Fatal(m.Err())
		}
	}
	m.Close()
}
