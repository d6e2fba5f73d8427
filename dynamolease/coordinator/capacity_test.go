package coordinator_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// What the smallest service costs in an hour, with the defaults (a ttl of 15 s, a round of 5 s, at
// the least 4.5): a heartbeat a round, and one read of the members, and of the owners each 10 to 30
// rounds.
const (
	budgetWrites = 800
	budgetReads  = 900
)

// C56: a service of one node and one lease costs what it needs, and scans nothing.
func TestCasesC56(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 1, func(c *coordinator.Config) { c.TTL, c.Interval = 0, 0 })
		w.settle(1, a)
		m := &meter{tb: w}
		stop := a.path.Every("", m.measure)
		a.path.Reset()
		time.Sleep(time.Hour)
		stop()
		if n := a.path.Count("Scan") + a.path.Count("TransactWriteItems"); n != 0 || a.path.Count("") < 700 {
			w.Errorf("%d scans and transactions of %d requests", n, a.path.Count(""))
		}
		reads, writes := m.units()
		if reads == 0 || reads > budgetReads || writes == 0 || writes > budgetWrites {
			w.Errorf("%v read units and %v write units in an hour, at most %d and %d were to be", reads, writes, budgetReads, budgetWrites)
		}
		w.Logf("an hour of one node with one lease: %v read units, %v write units", reads, writes)
	})
}

// A meter has the database say what each request consumed.
type meter struct {
	tb testing.TB

	mu            sync.Mutex
	reads, writes float64
}

func (m *meter) measure(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	asked, err := m.asking(req)
	if err != nil {
		return nil, err
	}
	resp, err := send(asked)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var answer struct {
		ConsumedCapacity *struct{ CapacityUnits float64 }
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.ConsumedCapacity == nil {
		m.tb.Errorf("what %s consumed is not known: %s, %v", req.Header.Get("X-Amz-Target"), body, err)
		return resp, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes.Contains([]byte(req.Header.Get("X-Amz-Target")), []byte("UpdateItem")) {
		m.writes += answer.ConsumedCapacity.CapacityUnits
	} else {
		m.reads += answer.ConsumedCapacity.CapacityUnits
	}
	return resp, nil
}

// asking is the request that asks for the capacity as well.
func (m *meter) asking(req *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		return nil, err
	}
	content["ReturnConsumedCapacity"] = "TOTAL"
	if body, err = json.Marshal(content); err != nil {
		return nil, err
	}
	asked := req.Clone(req.Context())
	asked.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	asked.ContentLength = int64(len(body))
	return asked, nil
}

func (m *meter) units() (reads, writes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads, m.writes
}
