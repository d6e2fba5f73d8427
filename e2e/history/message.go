package history

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// A message is one request on its way.
type message struct {
	ctx    context.Context
	call   *call
	op     string
	header http.Header
	body   []byte
	sent   int64
	age    time.Duration // of what it reads, unless the read is strongly consistent
}

// silence returns the error that the client gets without an answer: a reset at once, or nothing
// until its context ends.
func (m *message) silence(atOnce bool, op string) error {
	if atOnce {
		return reset(op)
	}
	<-m.ctx.Done()
	return m.ctx.Err()
}

func (m *message) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-m.ctx.Done():
		return m.ctx.Err()
	}
}

// request returns the message in the form that the faults of dynamotest need.
func (m *message) request() *http.Request {
	return (&http.Request{Header: m.header}).WithContext(m.ctx)
}

func reset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

// writes returns the keys of the rows of a write, including rows on which it only has a condition.
func (m *message) writes() []rowKey {
	switch m.op {
	case "UpdateItem", "DeleteItem", "TransactWriteItems":
		return m.keys()
	}
	return nil
}

// keys returns the keys that a request names.
func (m *message) keys() []rowKey {
	var request requestBody
	if json.Unmarshal(m.body, &request) != nil {
		return nil
	}
	if request.Key != nil {
		return []rowKey{row(request.Key).key()}
	}
	if m.op == "Query" {
		for _, v := range request.Values {
			if v.S != nil && len(*v.S) > 1 && ((*v.S)[:2] == "L#" || (*v.S)[:2] == "M#") {
				return []rowKey{{pk: *v.S}}
			}
		}
	}
	var keys []rowKey
	for _, action := range request.TransactItems {
		for _, a := range action {
			keys = append(keys, row(a.Key).key())
		}
	}
	return keys
}
