package dynamotest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var errTransportClosed = errors.New("the transport is closed")

// Transport is an http.RoundTripper between the SDK and a Server. It records the requests that pass and
// makes go wrong what a test asks for. Its methods may be called concurrently.
//
// A request meets, in this order: the latency, every fault of Every that matches in the order in which
// they were added, the first fault of Next that matches, and at its table, as often as these send it, the
// requests of all Transports if [Server.Contend] says so. A fault that does not send the request on
// keeps it from those after it, but not from using up its fault of Next.
type Transport struct {
	server  *Server
	base    http.RoundTripper
	virtual bool
	closing chan struct{}

	mu       sync.Mutex
	closed   bool
	late     sync.WaitGroup
	date     func(now time.Time) string
	latency  time.Duration
	every    []*rule
	next     []*rule
	requests []Request
}

// rule is a fault for the requests of one operation, or of any if op is empty.
type rule struct {
	op    string
	fault Fault
}

func (r *rule) matches(op string) bool { return r.op == "" || r.op == op }

// Transport returns a new Transport in real time, which keeps connections open. All of a Server's
// Transports share these connections. Close it when done.
//
// On AWS, requests are signed again with the credentials that Start found, so that a false Date, which
// the SDK signs with, does not have them refused.
func (s *Server) Transport() *Transport {
	return &Transport{server: s, base: s.pool, closing: make(chan struct{})}
}

// Client returns an SDK client whose requests pass through t.
func (t *Transport) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	cfg := t.server.cfg
	cfg.HTTPClient = httpClient(t)
	// Requests to AWS are signed again by send, and the cache around the usual
	// credentials must not be shared between a bubble and the world outside.
	cfg.Credentials = aws.CredentialsProviderFunc(dummyCredentials)
	return dynamodb.NewFromConfig(cfg, optFns...)
}

// Next has fault happen to the next request of the operation op, such as "UpdateItem"; "" is any. It
// happens once. Faults for the same operation queue in the order of the calls.
func (t *Transport) Next(op string, fault Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = append(t.next, &rule{op, fault})
}

// Every has fault happen to every request of the operation op, such as "UpdateItem", until stop is
// called; "" is any. Stop may be called more than once. It does not affect requests on their way.
func (t *Transport) Every(op string, fault Fault) (stop func()) {
	added := &rule{op, fault}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.every = append(t.every, added)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.every = without(t.every, added)
	}
}

// Latency delays every request by d before anything else happens to it; 0 ends that. A request whose
// context ends meanwhile is not sent.
func (t *Transport) Latency(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latency = d
}

// Date sets what the Date header of responses says from now on; nil restores the default. It applies to the
// server's answers and to those that faults make up. The function is called when the server has
// answered, before any delay of the response, with the time of time.Now: the machine's clock, or in a
// synctest bubble the bubble's. What it returns becomes the header, however malformed; "" removes it.
func (t *Transport) Date(date func(now time.Time) string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.date = date
}

// Close ends the requests that still hang or wait, with an error, and waits for late deliveries whose
// time has come; those whose time has not are dropped. It closes idle connections. Requests fail
// from now on. It may be called more than once.
func (t *Transport) Close() {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.closing)
	}
	t.mu.Unlock()
	t.late.Wait()
	if base, ok := t.base.(*http.Transport); ok {
		base.CloseIdleConnections()
	}
}

// goLate runs a late delivery, which must end soon after t.closing is closed. It reports whether it
// could: not after Close.
func (t *Transport) goLate(deliver func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.late.Go(deliver)
	return true
}

// transportKey finds the Transport of a request in its context.
type transportKey struct{}

func transportOf(ctx context.Context) *Transport {
	t, _ := ctx.Value(transportKey{}).(*Transport)
	return t
}

// without returns rules without r, in a new slice: the old one may be in use.
func without(rules []*rule, r *rule) []*rule {
	var kept []*rule
	for _, other := range rules {
		if other != r {
			kept = append(kept, other)
		}
	}
	return kept
}
