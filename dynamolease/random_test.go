package dynamolease_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	randomNodes      = 4
	randomPartitions = 3
	randomTime       = 2 * time.Minute
)

// Nodes with clocks of their own acquire, renew and release under faults. No two hold a lease at the same time, epochs
// only grow, and a lease that a node counts on is its own in the table.
func TestRandom(t *testing.T) {
	seeds := []uint64{1, uint64(time.Now().UnixNano())}
	for i, seed := range seeds {
		name := fmt.Sprint("seed ", seed)
		if i == len(seeds)-1 {
			name = "seed of now"
		}
		t.Run("LS32/"+name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the seed was %d", seed)
				}
			}()
			inVirtualTime(t, func(w *world) { w.random(seed) })
		})
	}
}

func (w *world) random(seed uint64) {
	seen, look := w.beliefs(), w.node()
	var running sync.WaitGroup
	for i := range randomNodes {
		n := w.node()
		p := &process{
			node: n, name: fmt.Sprint("n", i), seen: seen, random: rand.New(rand.NewPCG(seed, uint64(i))),
			clock: &driftingClock{origin: time.Now()}, how: dynamolease.Renewal(i % 2),
		}
		p.start()
		running.Go(func() {
			for end := time.Now().Add(randomTime); time.Now().Before(end) && !w.Failed(); {
				p.step()
			}
		})
	}
	done := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		epochs := make(map[int]string)
		for tick := 0; ; tick++ {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				seen.check()
				if tick%20 == 0 { // a request each, so less often
					w.watchEpochs(look, epochs)
				}
			}
		}
	}()
	running.Wait()
	close(done)
	<-watching
	if len(seen.epochs) != randomPartitions {
		w.Errorf("of %d partitions, only %d were ever acquired", randomPartitions, len(seen.epochs))
	}
}

// A process is one node of the random test.
type process struct {
	*node
	name   string
	seen   *beliefs
	random *rand.Rand
	clock  *driftingClock
	how    dynamolease.Renewal
	faulty sync.Mutex // guards dice
	dice   *rand.Rand
}

// start opens a store, as when the process is started.
func (p *process) start() {
	p.w.Helper()
	p.clock.rate = p.random.Int64N(300) - 150
	store, err := dynamolease.New(p.raw, p.w.Table, func(o *dynamolease.Options) { o.Elapsed, o.Renewal = p.clock.elapsed, p.how })
	if err != nil {
		p.w.Fatal(err)
	}
	p.Store = store
	p.w.Cleanup(store.Close)
	p.owners() // one true response
	p.dice = rand.New(rand.NewPCG(p.random.Uint64(), 0))
	p.Path.Every("", p.misfortune)
}

// misfortune is what happens to a request: usually nothing.
func (p *process) misfortune(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	p.faulty.Lock()
	what, delay := p.dice.IntN(40), time.Duration(p.dice.Int64N(int64(2*ttl)))
	p.faulty.Unlock()
	fault := dynamotest.Delay(delay / 1000)
	switch what {
	case 0:
		fault = dynamotest.LoseRequest()
	case 1, 2:
		fault = dynamotest.LoseResponse()
	case 3:
		fault = dynamotest.Delay(delay / 8)
	case 4:
		fault = dynamotest.DelayResponse(delay / 8)
	case 5:
		fault = dynamotest.Hang()
	case 6:
		fault = dynamotest.HangAfter()
	case 7, 8, 9, 10:
		late := make(chan struct{})
		time.AfterFunc(delay, func() { close(late) })
		fault = dynamotest.Late(late)
		if what == 10 {
			fault = dynamotest.All(dynamotest.HangAfter(), fault)
		}
	case 11:
		fault = dynamotest.Twice()
	case 12:
		fault = after(dynamotest.ServerError(500))
	case 13:
		fault = dynamotest.ServerError(503)
	case 14:
		fault = dynamotest.Throttle()
	case 15:
		fault = dynamotest.Conflict()
	}
	return fault(req, send)
}

// step does one thing, and waits for a while.
func (p *process) step() {
	partition := p.random.IntN(randomPartitions)
	ctx, cancel := context.WithTimeout(p.w.Context(), time.Duration(1+p.random.Int64N(int64(ttl))))
	defer cancel()
	switch p.random.IntN(12) {
	case 0, 1, 2, 3:
		p.tryAcquire(ctx, partition)
	case 4, 5, 6, 7:
		p.tryRenew(ctx)
	case 8:
		p.tryRelease(ctx, partition)
	case 9:
		p.clock.step(time.Duration(p.random.Int64N(int64(3 * time.Hour))))
	case 10:
		p.clock.suspend(time.Duration(p.random.Int64N(int64(2 * ttl))))
	}
	time.Sleep(time.Duration(p.random.Int64N(int64(ttl / 4))))
}

func (p *process) tryAcquire(ctx context.Context, partition int) {
	lease, acquired, err := p.Acquire(ctx, p.w.group, partition, p.name, ttl)
	if err != nil || !acquired {
		return
	}
	p.seen.believe(p.node, lease)
	p.own(lease)
}

func (p *process) tryRenew(ctx context.Context) {
	leases, err := p.Renew(ctx, p.w.group, []int{0, 1, 2}, p.name, ttl)
	if err != nil {
		return
	}
	lost := map[int]bool{0: true, 1: true, 2: true}
	for _, lease := range leases {
		lost[lease.Partition] = false
		p.seen.believe(p.node, lease)
		p.own(lease)
	}
	for partition, lost := range lost {
		if lost {
			p.seen.forget(p.node, partition)
		}
	}
}

func (p *process) tryRelease(ctx context.Context, partition int) {
	p.seen.forget(p.node, partition) // its work stops first
	_, _ = p.Release(ctx, p.w.group, partition, p.name)
}

// own expects that a lease is the caller's in the table for as long as the caller counts on it.
func (p *process) own(lease dynamolease.Lease) {
	row := p.row(lease.Partition)
	if lease.Remaining() > 0 && (textOf(row["owner"]) != p.name || numberOf(row["epoch"]) != decimal(lease.Epoch)) {
		p.w.Errorf("%v: %s counts on %d at epoch %d for %v, but the row has owner %q and epoch %s", time.Now(),
			p.name, lease.Partition, lease.Epoch, lease.Remaining(), textOf(row["owner"]), numberOf(row["epoch"]))
	}
}

// watchEpochs expects that no row's epoch goes back.
func (w *world) watchEpochs(look *node, epochs map[int]string) {
	for partition := range randomPartitions {
		epoch := numberOf(look.row(partition)["epoch"])
		if len(epoch) < len(epochs[partition]) || len(epoch) == len(epochs[partition]) && epoch < epochs[partition] {
			w.Errorf("%v: the epoch of %d went from %s back to %s", time.Now(), partition, epochs[partition], epoch)
		}
		epochs[partition] = epoch
	}
}
