package history

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// occupied is the longest time for which a transaction occupies its rows.
const occupied = 60 * time.Millisecond

// traffic is what the requests of all nodes do to each other in the store. A transaction occupies
// its rows for a moment, and a write that meets it there is refused. The writes of one partition
// key have a limit.
type traffic struct {
	contended bool
	limit     float64 // write units in a second; 0 for none

	mu    sync.Mutex
	dice  *rand.Rand
	busy  map[rowKey]time.Time
	spent map[string]float64 // write units of each partition key that its limit does not cover yet
	drawn map[string]time.Time
}

func newTraffic(c climate, dice *rand.Rand) *traffic {
	return &traffic{
		contended: c.contended, limit: c.limit, dice: dice,
		busy: make(map[rowKey]time.Time), spent: make(map[string]float64), drawn: make(map[string]time.Time),
	}
}

// turnAway returns the reason for which the store refuses a write of these rows now, and the row.
// Otherwise it lets the write pass: it counts its units and occupies its rows.
func (t *traffic) turnAway(keys []rowKey, transaction bool) (reason string, at int) {
	if t == nil || len(keys) == 0 {
		return "", 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for i, k := range keys {
		if t.contended && now.Before(t.busy[k]) {
			return "TransactionConflict", i
		}
		if t.limit > 0 && t.owed(k.pk, now) >= t.limit {
			return "ThrottlingError", i
		}
	}
	until := now.Add(time.Duration(t.dice.Int64N(int64(occupied))))
	for _, k := range keys {
		t.spent[k.pk]++
		if transaction {
			t.spent[k.pk]++
			t.busy[k] = until
		}
	}
	return "", 0
}

// owed returns the units of a partition key that its limit does not cover yet.
func (t *traffic) owed(pk string, now time.Time) float64 {
	t.spent[pk] = max(0, t.spent[pk]-t.limit*now.Sub(t.drawn[pk]).Seconds())
	t.drawn[pk] = now
	return t.spent[pk]
}

// refuse answers a write that the store turns away.
func refuse(m *message, keys []rowKey, reason string, at int) (*http.Response, error) {
	if m.op == "TransactWriteItems" {
		reasons := make([]string, len(keys))
		for i := range reasons {
			reasons[i] = "None"
		}
		reasons[at] = reason
		return dynamotest.Cancelled(reasons...)(m.request(), nil)
	}
	if reason == "TransactionConflict" {
		return dynamotest.Conflict()(m.request(), nil)
	}
	return dynamotest.Throttle()(m.request(), nil)
}
