package dynamotest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// RoundTrip records the request and sends it through the faults that are due to the server.
// It implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	op := operation(req)
	fault, err := t.accept(Request{Op: op, Body: body})
	if err != nil {
		return nil, err
	}
	out := req.Clone(context.WithValue(req.Context(), transportKey{}, t))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	out.ContentLength = int64(len(body))
	return fault(out, t.send)
}

// accept records a request and says what happens to it.
func (t *Transport) accept(r Request) (Fault, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errTransportClosed
	}
	t.requests = append(t.requests, r)
	var faults []Fault
	if t.latency > 0 {
		faults = append(faults, Delay(t.latency))
	}
	for _, every := range t.every {
		if every.matches(r.Op) {
			faults = append(faults, every.fault)
		}
	}
	for _, next := range t.next {
		if next.matches(r.Op) {
			faults = append(faults, next.fault)
			t.next = without(t.next, next)
			break
		}
	}
	return All(faults...), nil
}

// send is the Send that the last fault gets: the request arrives at its table.
func (t *Transport) send(req *http.Request) (*http.Response, error) {
	return t.server.arena.contend(req, t.deliver)
}

// deliver has the server answer. It reads the whole answer, so that faults need not care
// about connections, and sets the date that the server claims.
func (t *Transport) deliver(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("read request again: %w", err)
		}
		out.Body = body
	}
	if t.server.onAWS() {
		// The SDK signed with the time that it takes AWS to have, which a bubble or a false Date
		// makes wrong, and the request may have been on its way for long.
		if err := t.server.sign(out); err != nil {
			return nil, err
		}
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if _, err := wholeBody(resp); err != nil {
		return nil, err
	}
	t.stamp(resp.Header)
	return resp, nil
}

// stamp sets the Date header of an answer that the server gives now.
func (t *Transport) stamp(header http.Header) {
	t.mu.Lock()
	date := t.date
	t.mu.Unlock()
	now := time.Now()
	switch {
	case date != nil:
		header.Del("Date")
		if value := date(now); value != "" {
			header.Set("Date", value)
		}
	case t.virtual || header.Get("Date") == "":
		header.Set("Date", now.UTC().Format(http.TimeFormat))
	}
}

// A heldBody is the body of an answer that is in memory.
type heldBody struct {
	*bytes.Reader
	bytes []byte
}

func (heldBody) Close() error { return nil }

// wholeBody reads the body of an answer, which can be read again. It is large where there are many
// rows, and is not copied if it is in memory.
func wholeBody(resp *http.Response) ([]byte, error) {
	if held, ok := resp.Body.(heldBody); ok {
		return held.bytes, nil
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	body.Grow(int(max(0, resp.ContentLength)) + bytes.MinRead)
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	resp.Body = heldBody{bytes.NewReader(body.Bytes()), body.Bytes()}
	return body.Bytes(), nil
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close() // a RoundTripper must
	return io.ReadAll(req.Body)
}

// operation is the name of the DynamoDB operation of a request.
func operation(req *http.Request) string {
	target := req.Header.Get("X-Amz-Target")
	return target[strings.LastIndexByte(target, '.')+1:]
}
