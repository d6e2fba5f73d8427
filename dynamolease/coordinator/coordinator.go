package coordinator

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/aside"
)

// A Coordinator is one node's part in a service. Most programs call [Run]; New and
// [Coordinator.Run] are for programs that look at its [Coordinator.State] while it runs.
type Coordinator struct {
	store  *dynamolease.Store
	cfg    Config
	logger *slog.Logger
	leases leaseManager
	groups []*group
	hooks  *hookQueue
	census *census
	news   *news

	records *aside.Queue // of the log, on their way to the user's handler

	began   atomic.Bool
	values  context.Context // handlers' contexts come from it: it has Run's values, and no end
	running sync.WaitGroup  // all goroutines but those of handlers
	wake    chan struct{}   // holds one value when a handler has returned
	asked   chan struct{}   // holds one value when somebody has asked for a look
	told    chan struct{}   // holds one value when others should know of something soon
	hints   chan struct{}   // holds one value when others should look
	untold  atomic.Bool     // what others should know is in no heartbeat yet

	// Only the planning goroutine uses these.
	pace    pace
	greeted *dynamolease.Session // that others were told of
	hinted  bool                 // somebody has asked for the next look
	planned bool                 // the latest look has planned
	begun   time.Time            // the first look
	settle  time.Time            // until when the node waits for others to join
	certain time.Time            // when a session that was alive in the latest look may be over; zero if that look failed

	mu      sync.Mutex
	session *dynamolease.Session // nil before the first
	alive   bool                 // the latest heartbeat succeeded
	stirred bool                 // a lease was lost since the latest look
	expires time.Time            // when the session expires, as that heartbeat has set it
	stopped bool                 // the node acquires nothing any more
	over    bool                 // Run has returned
	members []dynamolease.Member
	absent  *dynamolease.Session // that was alive and not among the members; nil if there is none

	stopBy   time.Time // until when the node may release what it has; zero before it stops
	stopping []*worker // what it had when it began to stop

	round   int64         // rounds so far
	took    time.Duration // the latest round
	failure error         // the latest of a handler or a request
	permissions
}

// New checks cfg, and returns a coordinator that has not begun. It makes no request.
func New(store *dynamolease.Store, cfg Config) (*Coordinator, error) {
	cfg = cfg.withDefaults()
	if store == nil {
		return nil, refuse("store", "must not be nil")
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	logger, records := aside.Logger(cfg.Logger)
	logger = logger.With("service", cfg.Service, "node", cfg.Node)
	c := &Coordinator{
		store: store, cfg: cfg, leases: newLeaseManager(store, cfg), hooks: newHookQueue(cfg.Hooks, logger), census: newCensus(cfg),
		logger: logger, records: records, news: &news{logger: logger},
		values: context.Background(), wake: make(chan struct{}, 1), asked: make(chan struct{}, 1), told: make(chan struct{}, 1), hints: make(chan struct{}, 1),
	}
	for _, g := range cfg.Groups {
		c.groups = append(c.groups, newGroup(cfg, g))
	}
	return c, nil
}

func (c *Coordinator) currentSession() *dynamolease.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

func (c *Coordinator) currentRound() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.round
}

// wakePlanning has the planning goroutine give away what a handler has returned from.
func (c *Coordinator) wakePlanning() { poke(c.wake) }

// Look has the node look at the members now, rather than in its next round, and at the owners where
// something has moved. It sends nothing itself and returns at once; ten looks a second are made at the
// most. Call it when another node has told this one that it has given something up: see [Config.Hint].
func (c *Coordinator) Look() { poke(c.asked) }

// signal has the other nodes look at the owners: this node has given something up. Its heartbeat says
// so soon.
func (c *Coordinator) signal(session *dynamolease.Session) {
	session.Signal()
	c.untold.Store(true)
	poke(c.told)
}

// poke leaves one value in a channel.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// failed notes an error for State.
func (c *Coordinator) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = err
}

// report logs a failure that is tried again, and notes it for State.
func (c *Coordinator) report(ctx context.Context, what string, err error) {
	c.logger.WarnContext(ctx, "dynamolease: could not "+what+", trying again", "err", err)
	c.failed(err)
}

// sleep waits, at most until something comes over a channel, and reports whether ctx lives on.
func sleep(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-until:
		return ctx.Err() == nil
	case <-timer.C:
		return ctx.Err() == nil
	}
}
