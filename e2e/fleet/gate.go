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

// A gate lets requests reach the server one by one. Their order depends on the seed, not on the
// scheduler: the gate waits until all goroutines in the bubble are blocked, and then lets one
// request in.
type gate struct {
	seed  uint64
	ready chan struct{} // holds one value when a request waits

	mu       sync.Mutex
	waiting  []*passage
	requests map[string]int       // how many the gate let in, by node
	beats    map[string]time.Time // when the gate let in the latest write of a node's session
	total    int
	passed   func(node, what string) // the gate calls it for each request that it lets in
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

// next takes out the request that the gate lets in next.
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
	if !strings.HasPrefix(p.what, "GetItem") && !strings.HasPrefix(p.what, resuming) { // see [gate.requestsOf]
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

// hold returns a fault for a node's transport, which makes requests wait at the gate.
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

// requestsOf returns how many requests of a node the gate has let in. It does not count reads of
// single leases, nor writes of their work: after a handler fails, the node resumes its lease and
// calls the handler again.
func (g *gate) requestsOf(node string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests[node]
}

// beat returns when the gate let in the latest heartbeat of a node.
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

// resuming begins the description of a write of fenced work. The handlers of a fleet write none.
const resuming = "Resume"

// keyParts matches the keys of rows in a request's body, without their random ids.
var keyParts = regexp.MustCompile(`"S":"([LM]#[^"]*|P#\d{10}|[ND]#[^"#]*)`)

// describe returns a request's operation and the keys of its rows.
func describe(req *http.Request) string {
	op := req.Header.Get("X-Amz-Target")
	op = op[strings.LastIndexByte(op, '.')+1:]
	body := bodyOf(req)
	if op == "UpdateItem" && strings.Contains(body, `"#work"`) && !strings.Contains(body, `"#rev"`) {
		op = resuming
	}
	var rows []string
	for _, match := range keyParts.FindAllStringSubmatch(body, none) {
		rows = append(rows, match[1])
	}
	slices.Sort(rows) // the fields of the body have no fixed order
	return op + " " + strings.Join(rows, " ")
}
