package coordinator_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A replica answers a node's eventually consistent reads as they were before the node's latest write,
// if that was less than a lag ago. Otherwise it answers what was there a lag before, or a little later.
type replica struct {
	lag time.Duration

	mu      sync.Mutex
	reads   map[string]*http.Request // by what they ask
	answers map[string]answerOf
	written time.Time
}

// An answerOf is what a read found at a time.
type answerOf struct {
	at     time.Time
	header http.Header
	body   []byte
}

func newReplica(lag time.Duration) *replica {
	return &replica{lag: lag, reads: make(map[string]*http.Request), answers: make(map[string]answerOf)}
}

// fault has a path's requests answered by the replica.
func (r *replica) fault(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	body := bodyOf(req)
	switch {
	case strings.Contains(body, `"ConsistentRead":false`):
		return r.read(req, asked(body), send)
	case strings.Contains(req.Header.Get("X-Amz-Target"), "Update"), strings.Contains(req.Header.Get("X-Amz-Target"), "Transact"):
		r.beforeWrite(req, send)
	}
	return send(req)
}

// asked returns a request's body in one order: the client writes the parts of a map in any.
func asked(body string) string {
	var parts map[string]any
	if err := json.Unmarshal([]byte(body), &parts); err != nil {
		return body
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return body
	}
	return string(text)
}

func (r *replica) read(req *http.Request, what string, send dynamotest.Send) (*http.Response, error) {
	r.mu.Lock()
	r.reads[what] = req
	old, ok := r.answers[what]
	r.mu.Unlock()
	if ok && time.Since(old.at) < r.lag {
		return old.response(req), nil
	}
	found, resp, err := ask(req, send)
	if err == nil {
		r.keep(what, found)
	}
	return resp, err
}

// beforeWrite has the replica keep what it shows until a lag after the write.
func (r *replica) beforeWrite(req *http.Request, send dynamotest.Send) {
	r.mu.Lock()
	fresh := time.Since(r.written) < r.lag
	if !fresh {
		r.written = time.Now()
	}
	var reads []*http.Request
	for _, read := range r.reads {
		reads = append(reads, read)
	}
	r.mu.Unlock()
	if fresh {
		return
	}
	for _, read := range reads {
		if found, _, err := ask(read.Clone(req.Context()), send); err == nil {
			r.keep(asked(bodyOf(read)), found)
		}
	}
}

func (r *replica) keep(what string, found answerOf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[what] = found
}

func ask(req *http.Request, send dynamotest.Send) (answerOf, *http.Response, error) {
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(strings.NewReader(bodyOf(req)))
	at := time.Now()
	resp, err := send(again)
	if err != nil {
		return answerOf{}, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answerOf{}, nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return answerOf{}, nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return answerOf{at, resp.Header.Clone(), body}, resp, nil
}

// response returns the answer again, with a Date of now: an old state does not come with an old date.
func (a answerOf) response(req *http.Request) *http.Response {
	header := a.header.Clone()
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}
