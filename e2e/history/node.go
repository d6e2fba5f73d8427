package history

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A node is one process after another under one name. It has two hands: one works, the other keeps what it has.
type node struct {
	w        *world
	number   int
	name     string
	path     *path
	clock    *clock
	hand     *rand.Rand // of the one that works
	keeper   *rand.Rand
	joins    bool // its leases are in sessions
	reaps    bool // it does nothing but that
	operates bool // it is an operator, who revokes and drains

	mu      sync.Mutex
	store   *dynamolease.Store
	life    context.Context // of the process
	die     context.CancelFunc
	session *dynamolease.Session
	signals map[*dynamolease.Session]int64 // how often it has signalled in each
	leases  map[int]*holding
	stale   map[int]*holding     // leases that the node had, and got again with another epoch
	turn    [partitions]int      // counts what the working hand has done with each partition
	busy    [partitions]bool     // the working hand is at it
	dead    []*dynamolease.Store // those of former processes
}

// A holding is a lease as the node had it last; it may be another's by now.
type holding struct {
	lease    dynamolease.Lease
	doubtful bool // what became of the latest work is not known
}

func (w *world) newNode(number int) (*node, error) {
	stream := uint64(10 * (number + 1))
	n := &node{
		w: w, number: number, name: fmt.Sprint("n", number), leases: make(map[int]*holding), stale: make(map[int]*holding), signals: make(map[*dynamolease.Session]int64),
		hand: rand.New(rand.NewPCG(w.seed, stream)), keeper: rand.New(rand.NewPCG(w.seed, stream+1)),
		joins: number%2 == 1,
	}
	n.path = &path{
		db: w.db, sky: newSky(w.seed, stream+2, w.rate), counts: &w.counts, late: &w.late,
		dates: &dates{dice: rand.New(rand.NewPCG(w.seed, stream+3)), lying: w.lying, own: w.blur > 0},
	}
	n.clock = &clock{origin: time.Now(), ppm: n.hand.Int64N(300) - 150}
	return n, n.start()
}

// newReaper is a node that reaps on a path that is bad whatever the others have.
func (w *world) newReaper(number int) (*node, error) {
	n, err := w.newNode(number)
	if err == nil {
		n.reaps, n.path.sky.rate = true, 0.5
	}
	return n, err
}

// newOperator is a node of somebody who has no leases, and tells others to give up theirs.
func (w *world) newOperator(number int) (*node, error) {
	n, err := w.newNode(number)
	if err == nil {
		n.operates = true
	}
	return n, err
}

// start begins a process. It knows nothing of what an earlier one of the name had.
func (n *node) start() error {
	store, err := dynamolease.New(n.path.client(), n.w.db.table, func(o *dynamolease.Options) {
		o.Elapsed, o.Renewal, o.Retention = n.clock.elapsed, dynamolease.Renewal(n.number/2%2), time.Hour
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.store != nil {
		n.dead = append(n.dead, n.store)
		n.die()
	}
	n.store, n.session = store, nil
	n.life, n.die = context.WithCancel(context.Background())
	for p := range partitions {
		n.turn[p]++
		delete(n.leases, p)
		delete(n.stale, p)
	}
	return nil
}

// restart is the end of the process, without a word, and the begin of another.
func (n *node) restart() {
	for p := range partitions {
		n.w.forget(n, p)
	}
	if err := n.start(); err != nil {
		n.w.problem("restart %s: %v", n.name, err)
	}
	for p := range partitions { // what the keeper noted meanwhile was for the former process
		n.w.forget(n, p)
	}
}

func (n *node) close() {
	n.die()
	for _, store := range append(n.dead, n.store) {
		store.Close()
	}
}

// process is the one that runs now.
func (n *node) process() (context.Context, *dynamolease.Store, *dynamolease.Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life, n.store, n.session
}

// do makes a call, and gives it as long as patience.
func (n *node) do(c *call, life context.Context, patience time.Duration, f func(ctx context.Context)) {
	c.node = n.number
	if c.owner == "" {
		c.owner = n.name
	}
	n.w.begin(c)
	ctx, cancel := context.WithTimeout(context.WithValue(life, callKey{}, c), patience)
	defer cancel()
	f(ctx)
	n.w.end(c)
}

// take begins something that the working hand does with partitions; the result ends it.
func (n *node) take(list ...int) (done func()) {
	n.mark(true, list)
	return func() { n.mark(false, list) }
}

func (n *node) mark(busy bool, list []int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range list {
		n.turn[p]++
		n.busy[p] = busy
	}
}

// turns are what the counts stand at: -1 for a partition that the working hand is busy with.
func (n *node) turns() [partitions]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	turns := n.turn
	for p, busy := range n.busy {
		if busy {
			turns[p] = -1
		}
	}
	return turns
}

// got notes a lease that the working hand acquired.
func (n *node) got(lease dynamolease.Lease) {
	n.mu.Lock()
	if h := n.leases[lease.Partition]; h != nil && h.lease.Epoch != lease.Epoch {
		n.stale[lease.Partition] = h
	}
	n.leases[lease.Partition] = &holding{lease: lease}
	n.mu.Unlock()
	n.w.believe(n, lease)
}

// holding is a lease of the node, of this partition or else of any.
func (n *node) holding(p int) *holding {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range partitions {
		if h := n.leases[(p+i)%partitions]; h != nil {
			return h
		}
	}
	return nil
}

// former is a lease of the partition that the node had before the one that it has, or else the latter.
func (n *node) former(p int) *holding {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h := n.stale[p]; h != nil {
		return h
	}
	return n.leases[p]
}

// lose notes that a lease is gone.
func (n *node) lose(p int) {
	n.mu.Lock()
	delete(n.leases, p)
	n.mu.Unlock()
	n.w.forget(n, p)
}
