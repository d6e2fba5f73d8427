package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A memo stands between the nodes and the test server, which reads 10,000 rows in a tenth of a
// second. It gives the server's last answer to a Query again as long as nothing has been written to
// that partition key since. Everything else it passes on.
type memo struct {
	url      string
	upstream string
	server   *http.Server
	served   chan error
	onward   *http.Transport

	mu      sync.Mutex
	changes map[memoKey]int64 // counts the beginnings and the ends of writes
	others  int64             // counts those of requests that may write anything
	answers map[memoKey]map[string]*memoAnswer
}

// A memoKey is a partition key of a table.
type memoKey struct{ table, pk string }

// A memoAnswer is the answer to one Query, and what the counters were before it was asked for.
type memoAnswer struct {
	header          http.Header
	body            []byte
	changes, others int64
}

func startMemo(upstream string) (*memo, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &memo{
		url: "http://" + listener.Addr().String(), upstream: upstream, served: make(chan error, 1),
		onward:  &http.Transport{MaxIdleConnsPerHost: 256},
		changes: make(map[memoKey]int64), answers: make(map[memoKey]map[string]*memoAnswer),
	}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() { m.served <- m.server.Serve(listener) }()
	return m, nil
}

func (m *memo) close() error {
	err := errors.Join(m.server.Close(), <-m.served)
	m.onward.CloseIdleConnections()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP answers a request.
func (m *memo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	answer, status, err := m.answer(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer.body)))
	w.WriteHeader(status)
	_, _ = w.Write(answer.body)
}

func (m *memo) answer(r *http.Request, body []byte) (*memoAnswer, int, error) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	key, known := memoKeyOf(body)
	switch op {
	case "Query":
		if !known {
			return m.pass(r, body)
		}
		return m.query(r, key, body)
	case "UpdateItem", "PutItem", "DeleteItem":
		if known {
			m.count(key)
			defer m.count(key)
			return m.pass(r, body)
		}
	case "GetItem", "DescribeTable":
		return m.pass(r, body)
	}
	m.count(memoKey{})
	defer m.count(memoKey{})
	return m.pass(r, body)
}

// query gives the last answer again if it is still right.
func (m *memo) query(r *http.Request, key memoKey, body []byte) (*memoAnswer, int, error) {
	m.mu.Lock()
	changes, others, last := m.changes[key], m.others, m.answers[key][string(body)]
	m.mu.Unlock()
	if last != nil && last.changes == changes && last.others == others {
		return last, http.StatusOK, nil
	}
	answer, status, err := m.pass(r, body)
	if err != nil || status != http.StatusOK {
		return answer, status, err
	}
	answer.changes, answer.others = changes, others
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers[key] == nil || m.stale(key) {
		m.answers[key] = make(map[string]*memoAnswer)
	}
	m.answers[key][string(body)] = answer
	return answer, status, nil
}

// stale reports whether the answers of a key are of no use any more.
func (m *memo) stale(key memoKey) bool {
	for _, a := range m.answers[key] {
		return a.changes != m.changes[key] || a.others != m.others
	}
	return false
}

// count counts the beginning or the end of a write: an answer that was asked for before is never
// given after it. (An answer that was on its way meanwhile was asked for with the count before.)
func (m *memo) count(key memoKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if key == (memoKey{}) {
		m.others++
	} else {
		m.changes[key]++
	}
}

func (m *memo) pass(r *http.Request, body []byte) (*memoAnswer, int, error) {
	// A write goes on even if its client is gone: the count of its end has to come after it.
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, m.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	out.Header = r.Header.Clone()
	resp, err := m.onward.RoundTrip(out)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	answered, err := io.ReadAll(resp.Body)
	return &memoAnswer{header: resp.Header, body: answered}, resp.StatusCode, err
}

// memoKeyOf returns the partition key that a request is about: of a row, or in a Query the value
// that all conditions of this library call :pk.
func memoKeyOf(body []byte) (key memoKey, ok bool) {
	type pk struct {
		PK struct{ S string } `json:"pk"`
	}
	var in struct {
		TableName                 string
		Key, Item                 pk
		ExpressionAttributeValues struct {
			PK struct{ S string } `json:":pk"`
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return key, false
	}
	key = memoKey{in.TableName, in.Key.PK.S + in.Item.PK.S}
	if key.pk == "" {
		key.pk = in.ExpressionAttributeValues.PK.S
	}
	return key, key.pk != ""
}
