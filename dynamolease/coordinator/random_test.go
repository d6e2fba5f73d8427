package coordinator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	randomNodes      = 16
	randomPartitions = 40
	randomTTL        = 30 * time.Second
	randomRound      = randomTTL / 3 * 11 / 10
)

// Nodes join, stop, crash, start again under their names, are cut off, suspended, drained, and
// lose the store, and their leases are revoked. No two handlers whose leases are good work one
// partition at the same time, epochs only grow, and when all that ends all runs.
func TestRandomCO7(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		w.Logf("the seed is %d", seed)
		w.contend()
		w.random(seed, mode)
	})
}

// A chaos makes trouble.
type chaos struct {
	*world
	random *rand.Rand
	mode   coordinator.LeaseMode
	nodes  []*node
	born   int
	cuts   map[*node]time.Time // until when a fault happens to its requests

	operator *dynamolease.Store
}

func (w *world) random(seed uint64, mode coordinator.LeaseMode) {
	w.lenient = true
	w.Cleanup(func() { time.Sleep(3 * randomTTL) }) // handlers that ignore their end return some time
	c := &chaos{world: w, random: rand.New(rand.NewPCG(seed, uint64(mode))), mode: mode, cuts: make(map[*node]time.Time), operator: w.look()}
	for range randomNodes {
		c.join(c.name())
	}
	span := testkit.Size[time.Duration](4, 10) * time.Minute
	if long {
		span = 30 * time.Minute
	}
	for end := time.Now().Add(span); time.Now().Before(end) && !w.Failed(); {
		time.Sleep(time.Duration(c.random.Int64N(int64(40 * time.Second))))
		c.trouble()
	}
	time.Sleep(3 * randomTTL) // the last cuts have healed
	w.within(randomTTL+grace+8*randomRound, "all at work", func() bool { return w.busy() == randomPartitions })
	w.within(70*randomRound, "in balance", func() bool { return w.balanced(randomPartitions, c.nodes...) })
	w.Logf("%d acquisitions by %d nodes", w.moves(), c.born)
}

func (c *chaos) name() string {
	c.born++
	return fmt.Sprintf("n%03d", c.born)
}

func (c *chaos) join(name string) {
	n := c.prepare(name, randomPartitions, inMode(c.mode), func(cfg *coordinator.Config) {
		cfg.TTL, cfg.Interval = randomTTL, 0
		cfg.Look = []time.Duration{0, time.Second}[c.random.IntN(2)]
	}, handling(c.handle()))
	n.path.Latency(time.Duration(c.random.IntN(50)) * time.Millisecond)
	if c.random.IntN(2) == 0 {
		n.path.Every("", newReplica(time.Duration(c.random.Int64N(int64(3*time.Second)))).fault)
	}
	n.begin(context.Background())
	c.nodes = append(c.nodes, n)
}

// handle is a handler that now and then fails, returns late, or ignores the end for longer than it
// may.
func (c *chaos) handle() coordinator.Handler {
	late := []time.Duration{0, 0, 0, time.Second, 10 * time.Second, 2 * randomTTL}[c.random.IntN(6)]
	fails := c.random.IntN(4) == 0
	return func(ctx context.Context, lease coordinator.Assignment) error {
		if fails {
			select {
			case <-time.After(90 * time.Second): // after so long it is called again at once
				return fmt.Errorf("partition %d fails", lease.Partition)
			case <-ctx.Done():
			}
		}
		<-ctx.Done()
		time.Sleep(late)
		return nil
	}
}

// trouble does one thing to one node, or to all.
func (c *chaos) trouble() {
	i := c.random.IntN(len(c.nodes))
	n := c.nodes[i]
	remove := func() { c.nodes = append(c.nodes[:i:i], c.nodes[i+1:]...) }
	d := time.Duration(c.random.Int64N(int64(2 * randomTTL)))
	switch what := c.random.IntN(12); {
	case what == 0 && len(c.nodes) > randomNodes/2:
		n.cancel()
		remove()
	case what == 1 && len(c.nodes) > randomNodes/2:
		n.crash()
		remove()
	case what == 2:
		n.crash()
		remove()
		time.Sleep(2 * time.Second)
		c.join(n.name)
	case what == 3 && len(c.nodes) < 2*randomNodes:
		c.join(c.name())
	case what == 4:
		c.cut(d, c.nodes, "", dynamotest.Hang())
	case what == 5:
		c.cut(d, c.nodes[i:i+1], "UpdateItem", dynamotest.HangAfter())
	case what == 6:
		c.cut(d, c.nodes[i:i+1], "TransactWriteItems", dynamotest.LoseResponse())
	case what == 7:
		n.wake(d)
	case what == 8:
		c.cut(d, c.nodes[i:i+1], "Query", dynamotest.ServerError(500))
	case what == 9:
		c.setDrained(n.name, c.operator.Drain)
		time.AfterFunc(d, func() { c.setDrained(n.name, c.operator.Undrain) })
	case what == 10:
		c.revoke(d, c.random.IntN(randomPartitions))
	default:
		c.cut(d, c.nodes[i:i+1], "", dynamotest.Hang())
	}
}

func (c *chaos) setDrained(name string, set func(ctx context.Context, service, node string) error) {
	c.Helper()
	if err := set(context.Background(), c.service, name); err != nil {
		c.Error(err)
	}
}

// revoke takes a partition from its holder, for d at most. When that is done nobody counts on the
// lease any more.
func (c *chaos) revoke(d time.Duration, partition int) {
	c.Helper()
	runs := c.history(partition)
	if len(runs) == 0 {
		return
	}
	lease := runs[len(runs)-1].lease
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		_, done, err := c.operator.Revoke(context.Background(), c.group, partition, lease.Epoch)
		if err != nil {
			c.Fatal(err)
		}
		if left := lease.Remaining(); done && left > 0 {
			c.Errorf("partition %d at epoch %d is taken from its holder, which has %v left", partition, lease.Epoch, left)
		}
		if done {
			return
		}
	}
}

// cut has a fault happen to all requests of some nodes for d, where none does yet.
func (c *chaos) cut(d time.Duration, nodes []*node, op string, fault dynamotest.Fault) {
	for _, n := range nodes {
		if until := c.cuts[n]; time.Now().Before(until) {
			continue
		}
		c.cuts[n] = time.Now().Add(d + tick)
		time.AfterFunc(d, n.path.Every(op, fault))
	}
}
