package coordinator

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/jitter"
)

// Run joins a service, and runs, for each partition that this node comes to own, the handler of its group, until ctx
// ends. It then stops acquiring, ends the handlers' contexts with [ErrShutdown], waits for them, each at most for its
// DrainTimeout, releases everything, and leaves the service, in this order; the node's heartbeat goes on meanwhile. It
// returns nil then.
//
// While the store cannot be reached it goes on trying; leases run out by themselves, and handlers are told.
//
// The error is a [dynamolease.ArgumentError] for a configuration that cannot work, before anything else; [ErrReplaced]
// when another process has joined under this node's name; a [dynamolease.SetupError] when the table or a permission is
// missing at the start; or what went wrong with the release at the end.
func Run(ctx context.Context, store *dynamolease.Store, cfg Config) error {
	c, err := New(store, cfg)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// A Coordinator is one node's part in a service. Most programs call [Run]; New and [Coordinator.Run] are for those that
// want to look at its [Coordinator.State] meanwhile.
type Coordinator struct {
	store  *dynamolease.Store
	cfg    Config
	logger *slog.Logger
	owner  string // of leases with an expiry of their own: of this process alone, not even of another one of the same node
	groups []*group

	began   atomic.Bool
	values  context.Context // what handlers' contexts come from: the values of Run's, without its end
	running sync.WaitGroup  // all goroutines but those of handlers
	hooks   *hooks
	wake    chan struct{} // holds one value when a handler has returned

	mu      sync.Mutex
	session *dynamolease.Session // nil before the first
	alive   bool                 // the latest heartbeat succeeded
	expires time.Time            // of the session, as that heartbeat has put it
	stopped bool                 // no more acquisitions
	over    bool                 // Run has returned
	members []dynamolease.Member
	round   int64 // rounds so far
	took    time.Duration
	failure error // the latest, of a handler or a request
}

// A group is what this node knows and does of one group.
type group struct {
	Group
	excluded map[int]bool

	// Guarded by the coordinator's mutex.
	workers map[int]*worker // by partition: owned, or ending
	nodes   []string        // that took part at the last round
	share   int             // of this node, by the latest plan
	free    int             // partitions without an owner, by the latest plan

	// Of the planning goroutine alone.
	lookout lookout
	waiting map[int]int   // rounds that partitions have been free for
	pinned  map[int]int64 // partitions taken out of turn, and the round until which they are kept
	pin     int64         // rounds for which the next ones are
}

// New checks cfg, and returns a coordinator that has not begun.
func New(store *dynamolease.Store, cfg Config) (*Coordinator, error) {
	cfg = cfg.withDefaults()
	if store == nil {
		return nil, refuse("store", "must not be nil")
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Coordinator{
		store: store, cfg: cfg, hooks: newHooks(cfg), values: context.Background(), wake: make(chan struct{}, 1), owner: cfg.Node + "#" + uuid.NewString(),
		logger: cfg.Logger.With("service", cfg.Service, "node", cfg.Node),
	}
	for _, g := range cfg.Groups {
		state := &group{Group: g, workers: make(map[int]*worker), excluded: make(map[int]bool), waiting: make(map[int]int), pinned: make(map[int]int64)}
		for _, partition := range g.Exclude {
			state.excluded[partition] = true
		}
		c.groups = append(c.groups, state)
	}
	return c, nil
}

// Run is as the function [Run] says. It can be called once; a second call is an error.
func (c *Coordinator) Run(ctx context.Context) error {
	if c.began.Swap(true) {
		return errors.New("the coordinator has run before: make another with New")
	}
	// Requests go on after ctx has ended: handlers are drained under leases that are kept.
	c.values = context.WithoutCancel(ctx)
	requests, stop := context.WithCancel(c.values)
	defer c.finish()
	defer c.hooks.run()()
	defer c.running.Wait()
	defer stop()
	if err := c.join(ctx); err != nil || c.current() == nil {
		return err
	}
	beating, stopBeating := context.WithCancel(requests)
	beats := make(chan struct{})
	c.running.Go(func() {
		defer close(beats)
		c.beat(beating)
	})
	err := c.rounds(ctx)
	c.drain(requests)
	stopBeating()
	<-beats
	return errors.Join(err, c.leave(requests))
}

func (c *Coordinator) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// rounds plans, once each interval, until ctx ends or this node was replaced. In between it gives away what handlers have
// returned from.
func (c *Coordinator) rounds(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
			c.handOver(ctx)
		case <-timer.C:
			began := time.Now()
			if err := c.plan(ctx); err != nil {
				return err
			}
			c.finishRound(time.Since(began))
			timer.Reset(c.pause(ctx))
		}
	}
}

// pause is the interval, with jitter: nodes that started together do not stay together.
func (c *Coordinator) pause(ctx context.Context) time.Duration {
	tenth := c.cfg.Interval / 10
	return c.cfg.Interval - tenth + jitter.Below(ctx, 2*tenth)
}

func (c *Coordinator) finishRound(took time.Duration) {
	c.mu.Lock()
	c.round++
	c.took = took
	c.mu.Unlock()
	if c.cfg.Hooks.Round != nil {
		state := c.State()
		c.hooks.tell(func() { c.cfg.Hooks.Round(state) })
	}
}

func (c *Coordinator) rounds64() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.round
}

// notice wakes the planning goroutine, when a handler has returned.
func (c *Coordinator) notice() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// failed notes an error for State.
func (c *Coordinator) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = err
}
