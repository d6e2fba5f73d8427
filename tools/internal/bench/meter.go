package bench

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A usage is the cost of some requests as the server reports it (ReturnConsumedCapacity).
type usage struct {
	Requests   float64 `json:"requests"`
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
}

// A meter adds up usage. It is safe for concurrent use.
type meter struct {
	mu  sync.Mutex
	sum usage
}

// request adds a request of a Store. It fits [dynamolease.Options.OnRequest].
func (m *meter) request(_ context.Context, r dynamolease.Request) { m.add(r.ReadUnits, r.WriteUnits) }

func (m *meter) read(capacity *types.ConsumedCapacity)  { m.add(unitsOf(capacity), 0) }
func (m *meter) write(capacity *types.ConsumedCapacity) { m.add(0, unitsOf(capacity)) }

func (m *meter) add(reads, writes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Requests++
	m.sum.ReadUnits += reads
	m.sum.WriteUnits += writes
}

// settle waits until the requests of the stores are counted, which comes a moment after they end.
func (m *meter) settle() {
	for before := -1.0; before != m.count(); time.Sleep(2 * time.Millisecond) {
		before = m.count()
	}
}

func (m *meter) count() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum.Requests
}

// take returns the usage since the last call.
func (m *meter) take() usage {
	m.settle()
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.sum
	m.sum = usage{}
	return sum
}

// unitsOf returns zero if the server does not report the units.
func unitsOf(capacity *types.ConsumedCapacity) float64 {
	if capacity == nil || capacity.CapacityUnits == nil {
		return 0
	}
	return *capacity.CapacityUnits
}
