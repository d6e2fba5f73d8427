package dynamotest

import "slices"

// Request is a request that a client made. The body is shared: do not change it.
type Request struct {
	Op   string // the operation, such as "UpdateItem"
	Body []byte // JSON
}

// Requests returns the requests that arrived since the start or the last Reset, in order of arrival. A
// request that a fault lost or doubled is there once, like any other; each of the SDK's retries counts.
func (t *Transport) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Count returns how many of the Requests are of the operation op, such as "UpdateItem"; "" is any.
func (t *Transport) Count(op string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, r := range t.requests {
		if op == "" || op == r.Op {
			n++
		}
	}
	return n
}

// Reset forgets the requests recorded so far. Faults stay as they are.
func (t *Transport) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = nil
}

// String is the operation with its body, for messages of tests.
func (r Request) String() string { return r.Op + " " + string(r.Body) }
