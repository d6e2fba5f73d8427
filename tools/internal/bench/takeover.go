package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

const (
	takeoverName       = "Take-over"
	takeoverPartitions = 30
	takeoverPatience   = 2 * time.Minute // for each fleet

	// takeoverFleets are enough to show the distribution of the times. So few run at one time that
	// the machine is idle for the most part, and they do not measure each other.
	takeoverFleets  = 50
	fleetsAtOneTime = 25

	// The targets: after a crash in units of the ttl, plus one round; after a stop in rounds.
	crashTarget = 1.25
	stopTarget  = 1.1 // a round, with its jitter
)

// A takeoverRow is the times until the last partition of a node ran elsewhere.
type takeoverRow struct {
	Event      string    `json:"event"` // "crash" or "stop"
	Nodes      int       `json:"nodes"` // before it
	Partitions int       `json:"partitions"`
	TTL        float64   `json:"ttl_s"`
	Round      float64   `json:"round_s"`
	Seconds    []float64 `json:"seconds"` // of each event, the quickest first
	Target     float64   `json:"target_s"`
}

// A drill is fleets of three coordinators. In each, one node stops and another crashes.
type drill struct {
	fleets     int
	partitions int
	moves      int // that a node gives up in a round; 0 for all
	ttl        time.Duration
	latency    time.Duration
	connect    func() *dynamotest.Transport
	options    func(*dynamolease.Options)
}

func (l *lab) drill() drill {
	return drill{fleets: takeoverFleets, partitions: takeoverPartitions, ttl: fleetTTL, connect: l.server.Transport, options: func(*dynamolease.Options) {}}
}

func (d drill) round() time.Duration { return d.ttl / roundsPerTTL }

// takeovers runs the fleets. Each meets its events at another moment of the round.
func (b *bench) takeovers(ctx context.Context) ([]takeoverRow, error) {
	stops, crashes := make([]float64, b.drill.fleets), make([]float64, b.drill.fleets)
	err := rowstore.Parallel(b.drill.fleets, fleetsAtOneTime, func(i int) error {
		ctx, cancel := context.WithTimeout(ctx, takeoverPatience)
		defer cancel()
		t := b.lab.troupe(b.drill)
		stop, crash, err := t.play(ctx, time.Duration(i)*b.drill.round()/time.Duration(b.drill.fleets))
		stops[i], crashes[i] = stop.Seconds(), crash.Seconds()
		return errors.Join(err, t.close())
	})
	slices.Sort(stops)
	slices.Sort(crashes)
	ttl, round := b.drill.ttl.Seconds(), b.drill.round().Seconds()
	row := takeoverRow{Nodes: 3, Partitions: takeoverPartitions, TTL: ttl, Round: round}
	crash, stop := row, row
	crash.Event, crash.Seconds, crash.Target = "crash", crashes, crashTarget*ttl+round
	stop.Event, stop.Seconds, stop.Target = "stop", stops, stopTarget*round
	return []takeoverRow{crash, stop}, err
}

// A troupe is one fleet of coordinators in this process.
type troupe struct {
	drill
	table, service, group string
	*board
	actors map[string]*actor
}

// An actor is one node.
type actor struct {
	transport *dynamotest.Transport
	store     *dynamolease.Store
	exit      context.CancelFunc
	over      chan error // gets the result of Run
	crashed   bool
}

func (l *lab) troupe(d drill) *troupe {
	id := uuid.NewString()[:8]
	return &troupe{drill: d, table: l.table, service: "shop-" + id, group: "orders-" + id, board: newBoard(), actors: make(map[string]*actor)}
}

// play starts three nodes that share the partitions, stops one of them, starts another in its
// place, and crashes one.
func (t *troupe) play(ctx context.Context, after time.Duration) (stop, crash time.Duration, err error) {
	for _, name := range []string{"a", "b", "c"} {
		if err := t.enter(ctx, name); err != nil {
			return 0, 0, err
		}
	}
	if err := t.settle(ctx, after, "a", "b", "c"); err != nil {
		return 0, 0, err
	}
	stop, err = t.without(ctx, t.actors["c"].exit, "a", "b")
	if err != nil {
		return stop, 0, fmt.Errorf("after a stop: %w", err)
	}
	if err := t.enter(ctx, "d"); err != nil {
		return stop, 0, err
	}
	if err := t.settle(ctx, after, "a", "b", "d"); err != nil {
		return stop, 0, err
	}
	crash, err = t.without(ctx, t.actors["b"].crash, "a", "d")
	if err != nil {
		return stop, crash, fmt.Errorf("after a crash: %w", err)
	}
	return stop, crash, nil
}

// settle waits until the nodes have their shares and have looked at them, and then for a part of a
// round.
func (t *troupe) settle(ctx context.Context, after time.Duration, nodes ...string) error {
	if _, err := t.await(ctx, t.partitions, nodes...); err != nil {
		return fmt.Errorf("wait for an even fleet: %w", err)
	}
	return rest(ctx, 2*t.round()+after)
}

// without makes one node leave, and returns how long it took until the last partition ran on the
// others.
func (t *troupe) without(ctx context.Context, leave func(), others ...string) (time.Duration, error) {
	begun := time.Now()
	leave()
	last, err := t.await(ctx, t.partitions, others...)
	return last.Sub(begun), err
}

// enter starts a node.
func (t *troupe) enter(ctx context.Context, name string) error {
	a, err := t.actor(t.table)
	if err != nil {
		return err
	}
	a.transport.Latency(t.latency)
	t.actors[name] = a
	a.begin(ctx, 0, coordinator.Config{
		Service: t.service, Node: name, Address: address, TTL: t.ttl, Interval: t.round(),
		Groups: []coordinator.Group{{Name: t.group, Partitions: t.partitions, MovesPerRound: t.moves, Handler: t.handler(name)}},
	})
	return nil
}

// actor returns a node that has a path to the table of its own.
func (d drill) actor(table string) (*actor, error) {
	a := &actor{transport: d.connect(), over: make(chan error, 1)}
	var err error
	a.store, err = dynamolease.New(a.transport.Client(), table, d.options, func(o *dynamolease.Options) { o.Logger = noLogger })
	if err != nil {
		a.transport.Close()
		return nil, err
	}
	return a, nil
}

var noLogger = slog.New(slog.DiscardHandler)

// begin starts the node after a while.
func (a *actor) begin(ctx context.Context, after time.Duration, cfg coordinator.Config) {
	cfg.Logger = noLogger
	ctx, a.exit = context.WithCancel(ctx)
	go func() {
		if rest(ctx, after) != nil {
			a.over <- nil
			return
		}
		a.over <- coordinator.Run(ctx, a.store, cfg)
	}()
}

// crash cuts the node off from the table, as if it were killed. It then ends the node for tidiness.
func (a *actor) crash() {
	a.crashed = true
	a.transport.Every("", dynamotest.LoseRequest())
	a.exit()
}

// close ends all nodes and waits for them.
func (t *troupe) close() error {
	for _, a := range t.actors {
		a.exit()
	}
	var errs []error
	for name, a := range t.actors {
		if err := a.close(); err != nil {
			errs = append(errs, fmt.Errorf("node %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// close ends a node and waits for it. It ignores the error of a crashed one.
func (a *actor) close() error {
	a.exit()
	err := <-a.over
	a.store.Close()
	a.transport.Close()
	if a.crashed {
		return nil
	}
	return err
}
