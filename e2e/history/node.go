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

// A node is one process after another under one name. It has two hands, which run at the same time:
// the working hand acquires leases and works, and the keeper renews them.
type node struct {
	w        *world
	number   int
	name     string
	path     *path
	clock    *clock
	hand     *rand.Rand // for the working hand
	keeper   *rand.Rand
	joins    bool // its leases are in sessions
	reaps    bool // it only reaps
	operates bool // it is an operator: it revokes and drains

	mu      sync.Mutex
	store   *dynamolease.Store
	life    context.Context // ends with the process
	die     context.CancelFunc
	session *dynamolease.Session
	signals map[*dynamolease.Session]int64 // how often it has signalled in each session
	leases  map[int]*holding
	stale   map[int]*holding     // former leases of partitions that the node has acquired again since
	turn    [partitions]int      // counts the actions of the working hand on each partition
	busy    [partitions]bool     // an action of the working hand is under way
	dead    []*dynamolease.Store // the stores of former processes
}

// A holding is a lease as the node last knew it. Another node may have it by now.
type holding struct {
	lease     dynamolease.Lease
	uncertain bool // the outcome of the latest work is unknown
}

func (w *world) newNode(number int) (*node, error) {
	stream := uint64(10 * (number + 1))
	n := &node{
		w: w, number: number, name: fmt.Sprint("n", number), leases: make(map[int]*holding), stale: make(map[int]*holding), signals: make(map[*dynamolease.Session]int64),
		hand: rand.New(rand.NewPCG(w.seed, stream)), keeper: rand.New(rand.NewPCG(w.seed, stream+1)),
		joins: number%2 == 1,
	}
	if w.twins && number == 3 {
		n.name = "n1" // with sessions of its own
	}
	if w.shared && number == 2 {
		n.name = "n0" // each may release what the other believes in
	}
	n.path = w.newPath(rand.New(rand.NewPCG(w.seed, stream+2)))
	n.clock = &clock{origin: time.Now(), ppm: n.hand.Int64N(300) - 150}
	return n, n.start()
}

// newReaper returns a node that reaps. Its path is bad, even if the paths of the others are good.
func (w *world) newReaper(number int) (*node, error) {
	n, err := w.newNode(number)
	if err == nil {
		n.reaps, n.path.sky.rate = true, 0.5
	}
	return n, err
}

// newOperator returns a node of an operator. It has no leases, and revokes those of others.
func (w *world) newOperator(number int) (*node, error) {
	n, err := w.newNode(number)
	if err == nil {
		n.operates = true
	}
	return n, err
}

// start begins a process. The process does not know the leases of an earlier one of its name.
func (n *node) start() error {
	store, err := dynamolease.New(n.path.client(), n.w.db.table, func(o *dynamolease.Options) {
		o.Elapsed, o.Renewal, o.Retention = n.clock.elapsed, dynamolease.Renewal(n.number/2%2), time.Hour
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	if err != nil {
		return err
	}
	n.path.links.forget()
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

// restart ends the process without a release, and begins another.
func (n *node) restart() {
	for p := range partitions {
		n.w.forget(n, p)
	}
	if err := n.start(); err != nil {
		n.w.problem("restart %s: %v", n.name, err)
	}
	for p := range partitions { // the keeper may have noted leases of the former process meanwhile
		n.w.forget(n, p)
	}
}

func (n *node) close() {
	n.die()
	for _, store := range append(n.dead, n.store) {
		store.Close()
	}
}

// process returns the process that runs now.
func (n *node) process() (context.Context, *dynamolease.Store, *dynamolease.Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life, n.store, n.session
}

// do makes a call, and ends its context after patience.
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

// take notes that the working hand begins an action on partitions. The function that it returns
// notes the end.
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

// turns returns the counts of actions. The count is -1 if an action on the partition is under way.
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

// holding returns a lease of the node: of this partition, or else of any.
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

// former returns the node's former lease of the partition, or else its present one.
func (n *node) former(p int) *holding {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h := n.stale[p]; h != nil {
		return h
	}
	return n.leases[p]
}

// lose notes that the node no longer has its lease of a partition.
func (n *node) lose(p int) {
	n.mu.Lock()
	delete(n.leases, p)
	n.mu.Unlock()
	n.w.forget(n, p)
}
