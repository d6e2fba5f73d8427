package fleet

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A gate lets requests to the server one by one, in an order that depends on the seed and not on how goroutines happen to
// run: it waits until nobody in the bubble can do anything but wait, and then lets one in.
type gate struct {
	seed  uint64
	ready chan struct{} // holds one value when there is a request

	mu       sync.Mutex
	waiting  []*passage
	requests map[string]int       // that were let in, by node
	beats    map[string]time.Time // when the latest write of a node's session was let in
	total    int
	passed   func(node, what string) // is told of each request that is let in
}

// A passage is a request at the gate.
type passage struct {
	node, what string
	rank       uint64
	open       chan struct{}
}

func newGate(seed uint64) *gate {
	return &gate{seed: seed, ready: make(chan struct{}, 1), requests: make(map[string]int), beats: make(map[string]time.Time)}
}

// run opens the gate again and again until ctx ends.
func (g *gate) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.ready:
		}
		for {
			synctest.Wait()
			p := g.next()
			if p == nil {
				break
			}
			close(p.open)
		}
	}
}

// next takes the request out that is to be let in.
func (g *gate) next() *passage {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		return nil
	}
	p := slices.MinFunc(g.waiting, func(a, b *passage) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.node, b.node), strings.Compare(a.what, b.what))
	})
	g.waiting = slices.DeleteFunc(g.waiting, func(other *passage) bool { return other == p })
	if !strings.HasPrefix(p.what, "GetItem") { // handlers that are called again, see [gate.requestsOf]
		g.requests[p.node]++
	}
	if strings.HasPrefix(p.what, "UpdateItem M#") {
		g.beats[p.node] = time.Now()
	}
	g.total++
	if g.passed != nil {
		g.passed(p.node, p.what)
	}
	return p
}

// hold is the fault of a node's transport that has requests wait at the gate.
func (g *gate) hold(node string) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		what := describe(req)
		rank := hashOf(fmt.Sprint(g.seed, time.Now().UnixNano(), node, what))
		p := &passage{node: node, what: what, rank: rank, open: make(chan struct{})}
		g.mu.Lock()
		g.waiting = append(g.waiting, p)
		g.mu.Unlock()
		select {
		case g.ready <- struct{}{}:
		default:
		}
		<-p.open
		return send(req)
	}
}

// requestsOf is how many requests of a node were let in so far. Reads of single leases do not count: a handler that failed
// is called again after one.
func (g *gate) requestsOf(node string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests[node]
}

// beat is when the latest heartbeat of a node was let in.
func (g *gate) beat(node string) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.beats[node]
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}

// keyParts are the parts of a request's body that say which rows it is about, without ids that are new each time.
var keyParts = regexp.MustCompile(`"S":"([LM]#[^"]*|P#\d{10}|[ND]#[^"#]*)`)

// describe is a request's operation and rows.
func describe(req *http.Request) string {
	op := req.Header.Get("X-Amz-Target")
	op = op[strings.LastIndexByte(op, '.')+1:]
	var rows []string
	for _, match := range keyParts.FindAllStringSubmatch(bodyOf(req), none) {
		rows = append(rows, match[1])
	}
	slices.Sort(rows) // fields of the body come in any order
	return op + " " + strings.Join(rows, " ")
}
