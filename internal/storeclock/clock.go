package storeclock

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// Defaults for the fields of Config. New does not apply them: zero is a valid
// choice for each.
const (
	DefaultSlack    = time.Second
	DefaultMargin   = 100 * time.Millisecond
	DefaultDriftPPM = 200
	DefaultMaxSkew  = time.Minute
)

// Config says how a Clock reads the store's time.
type Config struct {
	// Elapsed is the only local time that samples are measured with. The
	// readings given to Observe must come from it. Required.
	Elapsed elapsed.Stopwatch

	// Slack is how old a Date header may be when it is sent, because a front
	// end caches it. It widens Bounds.Latest. The vote is made for a slack of at
	// most a second, or nothing; see the package comment. Usually DefaultSlack.
	Slack time.Duration

	// Margin is how far apart the clocks of the store's machines may be from
	// the store's time. It widens the bounds on either side. Usually
	// DefaultMargin.
	Margin time.Duration

	// DriftPPM is by how many parts per million the clocks of this node and of
	// the store may differ in rate. Usually DefaultDriftPPM.
	DriftPPM int

	// MaxSkew is how far this node's wall clock may be from the store's time.
	// It matters only while the wall clock is used. Usually DefaultMaxSkew.
	MaxSkew time.Duration

	// Node chooses this node's wall clock on purpose: Date headers are ignored.
	Node bool

	// Logger is told once when the clock has to fall back to the node's wall
	// clock. Defaults to no logging.
	Logger *slog.Logger

	// Wall reads this node's wall clock. Defaults to time.Now.
	Wall func() time.Time
}

// Clock reads the time of the store. It is safe for concurrent use.
type Clock struct {
	cfg   Config
	drift drift

	mu      sync.Mutex
	history history
	vote    vote // result over history, valid while stale is false
	stale   bool
	dated   bool // a usable Date has come, ever
	undated int  // responses in a row without one
}

// undatedMax is how many responses must come without a usable Date, and none
// with one before, until the store is taken to send none. A single one can be
// the work of some proxy.
const undatedMax = 3

// New returns a Clock that knows nothing yet, unless cfg chooses the node's
// own clock.
func New(cfg Config) *Clock {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	return &Clock{cfg: cfg, drift: drift(cfg.DriftPPM)}
}

// Observe takes the store's time from the header of a response, which may be
// an error. The request was sent no earlier than sent, and the header had
// arrived by received.
func (c *Clock) Observe(sent, received elapsed.Reading, header http.Header) {
	if c.cfg.Node {
		return
	}
	date, ok := ParseDate(header)
	if ok {
		c.add(sample{date: instantOf(date), sent: sent, received: received})
		return
	}
	if c.undatedResponse() {
		c.cfg.Logger.Warn("dynamolease: the store's responses carry no usable Date header; using this node's wall clock",
			slog.Duration("max_skew", c.cfg.MaxSkew))
	}
}

func (c *Clock) add(s sample) {
	if !s.ordered() || !s.agreed(s.received, c.drift) {
		return // for instance, the node was suspended while it waited
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.add(s)
	c.dated, c.undated = true, 0
	c.stale = true
}

// undatedResponse counts a response without a usable Date, and reports whether
// it is the one that makes the clock fall back to the node's wall clock.
func (c *Clock) undatedResponse() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undated++
	return !c.dated && c.undated == undatedMax
}

// Now returns bounds on the store's time at this moment. It returns false while
// not enough is known of it: the caller must make a request first, whose
// response is then observed. At the start it takes two responses that agree, so
// that a false one is not believed for being the first. It may happen again
// later, as all that is known is dropped when this node was suspended or one of
// its clocks stepped.
//
// A store that never sent a usable Date is taken to send none after a few
// responses, and the bounds are the node's. One that did is waited for: the
// node's wall clock is not what its leases were written by.
func (c *Clock) Now() (Bounds, bool) {
	if c.cfg.Node {
		return c.nodeBounds(c.cfg.Elapsed()), true
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	// Read inside the mutex, or now could be earlier than a sample or the vote.
	now := c.cfg.Elapsed()
	c.forget(now)
	switch {
	case !c.dated && c.undated >= undatedMax:
		return c.nodeBounds(now), true
	case c.history.empty():
		return Bounds{}, false
	}
	if c.stale {
		c.vote = c.history.vote(now, c.drift, c.cfg.Margin)
		c.stale = false
	}
	if !c.vote.decided {
		return Bounds{}, false
	}
	return c.storeBounds(now), true
}

// forget drops the samples whose age the local clocks do not agree on any more.
func (c *Clock) forget(now elapsed.Reading) {
	if c.history.forget(now, c.drift) {
		c.stale = true
	}
}

func (c *Clock) storeBounds(now elapsed.Reading) Bounds {
	known := c.vote.carried(now, c.drift)
	return Bounds{
		Earliest: known.low.time(),
		Latest:   known.high.add(c.cfg.Slack).time(),
		At:       now,
		drift:    c.drift,
	}
}

func (c *Clock) nodeBounds(now elapsed.Reading) Bounds {
	wall := c.cfg.Wall()
	return Bounds{
		Earliest: wall.Add(-c.cfg.MaxSkew).Round(0),
		Latest:   wall.Add(c.cfg.MaxSkew).Round(0),
		At:       now,
		Node:     true,
		drift:    c.drift,
	}
}
