package fleet

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// troubles holds the faults that a node's requests meet at present. Requests meet them before the
// gate: a request that does not reach the server does not wait there.
type troubles struct {
	mu   sync.Mutex
	list []*trouble
}

type trouble struct {
	op    string // the operation of the requests; empty for all
	fault dynamotest.Fault
}

// add puts a fault on the requests of an operation, until the caller calls heal.
func (t *troubles) add(op string, fault dynamotest.Fault) (heal func()) {
	added := &trouble{op, fault}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, added)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.list = slices.DeleteFunc(t.list, func(other *trouble) bool { return other == added })
	}
}

// of returns the faults for a request.
func (t *troubles) of(req *http.Request) []dynamotest.Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	var faults []dynamotest.Fault
	for _, each := range t.list {
		if strings.HasSuffix(req.Header.Get("X-Amz-Target"), each.op) {
			faults = append(faults, each.fault)
		}
	}
	return faults
}

// meet returns the fault for all requests of the node: its troubles, and then the gate.
func (n *node) meet(g *gate) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		return dynamotest.All(append(n.troubles.of(req), g.hold(n.name))...)(req, send)
	}
}
