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
}

// silence is what the client sees when no answer comes: a reset at once, or nothing until its context ends.
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

// request is the message as the makers of replies want it.
func (m *message) request() *http.Request {
	return (&http.Request{Header: m.header}).WithContext(m.ctx)
}

func reset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

// writes are the rows that a write is about, those included that it only has a condition on.
func (m *message) writes() []rowKey {
	var request requestBody
	switch m.op {
	case "UpdateItem", "DeleteItem", "TransactWriteItems":
	default:
		return nil
	}
	if json.Unmarshal(m.body, &request) != nil {
		return nil
	}
	if request.Key != nil {
		return []rowKey{row(request.Key).key()}
	}
	var keys []rowKey
	for _, action := range request.TransactItems {
		for _, a := range action {
			keys = append(keys, row(a.Key).key())
		}
	}
	return keys
}
