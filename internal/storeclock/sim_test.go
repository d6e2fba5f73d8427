package storeclock

import (
	"math"
	"net/http"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

const (
	testSlack  = DefaultSlack
	testMargin = DefaultMargin
)

// epoch is where the store's time starts in tests, on a whole second.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is the store's true time, and the nodes that live in it.
type world struct {
	now   time.Time
	nodes []*node
}

func newWorld(phase time.Duration) *world {
	return &world{now: epoch.Add(phase)}
}

// node is one machine: its clocks and its idea of the store's.
type node struct {
	w       *world
	reading elapsed.Reading
	rate    float64 // local seconds per second of the store
	slow    float64 // by how much a slewed clock makes Min slow, and Max fast
	fast    float64
	asleep  bool // the monotonic clock stands still
	wall    time.Duration
	clock   *Clock
}

// join adds a node whose clocks gain ppm on the store's.
func (w *world) join(ppm float64) *node {
	// Drift is defined as what the store gains per local second.
	n := &node{w: w, rate: 1 / (1 - ppm/1e6)}
	n.reading = elapsed.Reading{Min: time.Hour, Max: time.Hour}
	n.clock = New(Config{
		Elapsed:  func() elapsed.Reading { return n.reading },
		Slack:    testSlack,
		Margin:   testMargin,
		DriftPPM: DefaultDriftPPM,
	})
	w.nodes = append(w.nodes, n)
	return n
}

// pass lets d of the store's time pass. Local readings are rounded in the
// direction that each bound promises.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, n := range w.nodes {
		local := float64(d) * n.rate
		n.reading.Max += time.Duration(math.Ceil(local * (1 + n.fast)))
		if !n.asleep {
			n.reading.Min += time.Duration(math.Floor(local * (1 - n.slow)))
		}
	}
}

// suspend lets d pass with the node's monotonic clock standing still.
func (n *node) suspend(d time.Duration) {
	n.asleep = true
	n.w.pass(d)
	n.asleep = false
}

// stepWall sets the node's wall clock forward, which Max cannot tell from a
// pause.
func (n *node) stepWall(d time.Duration) {
	n.wall += d
	n.reading.Max += d
}

// reply is how the store answers one request.
type reply struct {
	there, back time.Duration // latencies
	stale       time.Duration // age of the cached header
	off         time.Duration // error of the server's clock, or lie
	over        string        // the connection
}

// ask makes a request and lets the clock observe the answer.
func (n *node) ask(r reply) {
	sent := n.reading
	n.w.pass(r.there)
	date := n.w.now.Add(r.off - r.stale)
	n.w.pass(r.back)
	n.clock.Observe(sent, n.reading, dated(date), r.over)
}

func dated(t time.Time) http.Header {
	return http.Header{"Date": {t.UTC().Format(http.TimeFormat)}}
}

// fatal is what the helpers need of *testing.T and *rapid.T.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// mustNow returns the bounds, which must be known.
func (n *node) mustNow(t fatal) Bounds {
	t.Helper()
	b, ok := n.clock.Now()
	if !ok {
		t.Fatalf("the store's time is not known")
	}
	return b
}

// holds checks that the bounds hold, to within off. Fewer than five samples may
// not agree enough to say anything.
func (n *node) holds(t fatal, off time.Duration) {
	t.Helper()
	if _, ok := n.clock.Now(); !ok && len(n.clock.history.samples) < 5 {
		return
	}
	n.contains(t, off)
}

// contains checks that the bounds are known and hold, to within off.
func (n *node) contains(t fatal, off time.Duration) {
	t.Helper()
	b := n.mustNow(t)
	early, late := b.Earliest.Sub(n.w.now), n.w.now.Sub(b.Latest)
	if early > off || late > off {
		t.Fatalf("bounds do not hold the store's time: Earliest is %v after it, Latest %v before (allowed: %v)", early, late, off)
	}
}
