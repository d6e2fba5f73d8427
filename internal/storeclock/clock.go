package storeclock

import (
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

	// Node chooses this node's wall clock on purpose: Date headers are ignored.
	Node bool

	// MaxSkew is how far this node's wall clock may be from the true time. It
	// matters only with Node.
	MaxSkew time.Duration

	// Wall reads this node's wall clock. Defaults to time.Now.
	Wall func() time.Time
}

// Clock reads the time of the store. It is safe for concurrent use.
type Clock struct {
	cfg   Config
	drift drift

	mu        sync.Mutex
	history   history
	vote      vote // result over history, valid while stale is false
	stale     bool
	agreement agreement
}

// New returns a Clock that knows nothing yet, unless cfg chooses the node's
// own clock.
func New(cfg Config) *Clock {
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	return &Clock{cfg: cfg, drift: drift(cfg.DriftPPM)}
}

// Observe takes the store's time from the header of a response, which may be
// an error, but must be the store's own. The request was sent no earlier than
// sent, and the header had arrived by received. Connection names the connection
// that it came over; "" if that is unknown.
func (c *Clock) Observe(sent, received elapsed.Reading, header http.Header, connection string) {
	if c.cfg.Node {
		return
	}
	if date, ok := ParseDate(header); ok {
		c.add(sample{date: instantOf(date), sent: sent, received: received, connection: connection})
	}
}

func (c *Clock) add(s sample) {
	if !s.ordered() || !s.agreed(s.received, c.drift) {
		return // for instance, the node was suspended while it waited
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreement.contradicted(s, c.drift, c.cfg) {
		if !c.agreement.lost() {
			return
		}
		// What the suspects say is voted on from the start.
		c.history, c.agreement = c.agreement.suspects, agreement{}
	} else {
		c.history.add(s)
	}
	c.stale = true
}

// Unsettled reports whether requests should go over new connections, to hear
// other machines: nothing is agreed yet, or a response of the last minute
// contradicts what was agreed.
func (c *Clock) Unsettled() bool {
	if c.cfg.Node {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.settle()
	return !c.agreement.valid || c.agreement.contested(now)
}

// Now returns bounds on the store's time at this moment. It returns false while
// not enough is known of it: the caller must make a request first, whose
// response is then observed. At the start it takes two responses that agree, so
// that a false one is not believed for being the first. It may happen again
// later, as all that is known is dropped when this node was suspended or one of
// its clocks stepped, or when what was agreed is given up.
func (c *Clock) Now() (Bounds, bool) {
	if c.cfg.Node {
		return c.nodeBounds(c.cfg.Elapsed()), true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.settle()
	if c.history.empty() || !c.vote.decided {
		return Bounds{}, false
	}
	return c.storeBounds(now), true
}

// settle drops what the local clocks do not agree on the age of any more, and
// holds the vote that is due. It returns the present moment.
func (c *Clock) settle() elapsed.Reading {
	// Read inside the mutex, or now could be earlier than a sample or the vote.
	now := c.cfg.Elapsed()
	forgot := c.history.forget(now, c.drift)
	forgot = c.agreement.forget(now, c.drift) || forgot
	if (c.stale || forgot) && !c.history.empty() {
		c.vote = c.agreement.narrow(c.history.vote(now, c.drift, c.cfg.Margin), c.drift, c.cfg.Margin)
		c.stale = false
	}
	return now
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
