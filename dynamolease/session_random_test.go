package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

func sessionRandomTime() time.Duration { return testkit.Size[time.Duration](1, 3) * time.Minute }

// Nodes with sessions and nodes with plain leases share partitions, and write under them what is not idempotent, under
// faults and with clocks of their own. No two hold a partition at the same time, epochs only grow, and every fenced
// write that was reported is there once.
func TestSessionRandom(t *testing.T) {
	seeds := []uint64{1, 2, uint64(time.Now().UnixNano())}
	for i, seed := range seeds {
		name := fmt.Sprint("seed ", seed)
		if i == len(seeds)-1 {
			name = "seed of now"
		}
		t.Run("LS37/LS38/LS39/LS40/"+name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the seed was %d", seed)
				}
			}()
			inVirtualTime(t, func(w *world) { w.sessionRandom(seed) })
		})
	}
}

func (w *world) sessionRandom(seed uint64) {
	seen, look, counts := w.beliefs(), w.node(), new(tally)
	var running sync.WaitGroup
	for i := range randomNodes {
		p := &fencer{process: process{
			node: w.node(), name: fmt.Sprint("n", i), seen: seen, random: rand.New(rand.NewPCG(seed, uint64(i))),
			clock: &driftingClock{origin: time.Now()}, how: dynamolease.Renewal(i % 2),
		}, counts: counts, sessions: i > 0, leases: make(map[int]dynamolease.Lease)}
		p.start()
		running.Go(func() {
			for end := time.Now().Add(sessionRandomTime()); time.Now().Before(end) && !w.Failed(); {
				p.step()
			}
		})
	}
	done, watching := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watching)
		epochs := make(map[int]string)
		for tick := 0; ; tick++ {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				seen.check()
				if tick%20 == 0 {
					w.watchEpochs(look, epochs)
				}
			}
		}
	}()
	running.Wait()
	close(done)
	<-watching
	time.Sleep(3 * ttl) // what is late arrives
	counts.check(w)
}

// A tally is what was reported of fenced writes, by partition.
type tally struct {
	mu              sync.Mutex
	done, uncertain [randomPartitions]int
}

func (c *tally) note(partition int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.done[partition]++
	case errors.Is(err, dynamolease.ErrUnknownOutcome):
		c.uncertain[partition]++
	}
}

// check expects that the counters hold all that was reported as done, and no more than may have been done besides.
func (c *tally) check(w *world) {
	w.Helper()
	total := 0
	for partition := range randomPartitions {
		got, _ := strconv.Atoi(w.count(fmt.Sprint(partition)))
		if done := c.done[partition]; got < done || got > done+c.uncertain[partition] {
			w.Errorf("partition %d: %d were written, %d were reported, and %d uncertain", partition, got, done, c.uncertain[partition])
		}
		total += c.done[partition]
	}
	if total == 0 {
		w.Error("nothing was ever written")
	}
}

// A fencer is a node that works under its leases, in sessions or with plain ones.
type fencer struct {
	process
	counts   *tally
	sessions bool
	leases   map[int]dynamolease.Lease // also those that it has lost: their work may go on for a while
}

func (p *fencer) step() {
	partition := p.random.IntN(randomPartitions)
	ctx, cancel := context.WithTimeout(p.w.Context(), time.Duration(1+p.random.Int64N(int64(ttl))))
	defer cancel()
	if p.sessions && (p.session == nil || p.session.Err() != nil) {
		p.reopen(ctx)
	}
	switch what := p.random.IntN(64); {
	case what < 14:
		p.acquireOne(ctx, partition)
	case what < 28:
		p.keep(ctx)
	case what < 56:
		p.work(ctx, partition)
	case what < 60:
		p.giveBack(ctx, partition)
	case what < 61:
		p.clock.step(time.Duration(p.random.Int64N(int64(ttl))))
	case what < 62:
		p.clock.suspend(time.Duration(p.random.Int64N(int64(2 * ttl))))
	case what < 63:
		_ = p.Leave(ctx, p.w.service, fmt.Sprint("n", p.random.IntN(randomNodes)))
	default:
		p.revokeOne(ctx, partition)
	}
	time.Sleep(time.Duration(p.random.Int64N(int64(ttl / 12))))
}

func (p *fencer) reopen(ctx context.Context) {
	session, err := p.OpenSession(ctx, dynamolease.Node{Service: p.w.service, Name: p.name, Address: "here:1"}, ttl)
	if err == nil {
		p.session = session
	}
}

func (p *fencer) acquireOne(ctx context.Context, partition int) {
	var lease dynamolease.Lease
	var acquired bool
	var err error
	switch {
	case p.session != nil:
		lease, acquired, err = p.session.Acquire(ctx, p.w.group, partition)
	case p.random.IntN(3) == 0:
		p.acquireSome(ctx)
		return
	default:
		lease, acquired, err = p.Acquire(ctx, p.w.group, partition, p.name, ttl)
	}
	if err == nil && acquired {
		p.got(lease)
	}
}

func (p *fencer) acquireSome(ctx context.Context) {
	leases, acquired, err := p.AcquireAll(ctx, p.w.group, []int{0, 2}, p.name, ttl)
	if err != nil || !acquired {
		return
	}
	for _, lease := range leases {
		p.got(lease)
	}
}

func (p *fencer) got(lease dynamolease.Lease) {
	p.leases[lease.Partition] = lease
	p.seen.believe(p.node, lease)
	p.own(lease)
}

// keep is a round's heartbeat or renewal.
func (p *fencer) keep(ctx context.Context) {
	if p.session == nil {
		p.tryRenew(ctx)
		return
	}
	_, err := p.session.Heartbeat(ctx)
	if err == nil && p.session.Remaining() > 0 && p.session.Err() != nil {
		p.w.Errorf("%s is over, and has %v left", p.session.ID(), p.session.Remaining())
	}
}

// work writes under a lease, which may be another's by now.
func (p *fencer) work(ctx context.Context, partition int) {
	lease, ok := p.leases[partition]
	if !ok {
		return
	}
	if p.random.IntN(4) == 0 {
		_ = p.Checkpoint(ctx, lease, []byte(uuid.NewString()))
		return
	}
	var checkpoint []byte
	if p.random.IntN(2) == 0 {
		checkpoint = []byte(uuid.NewString())
	}
	p.counts.note(partition, p.Transact(ctx, lease, checkpoint, p.w.increment(fmt.Sprint(partition))))
}

func (p *fencer) giveBack(ctx context.Context, partition int) {
	if p.session == nil {
		p.tryRelease(ctx, partition)
		return
	}
	p.seen.forget(p.node, partition)
	switch p.random.IntN(3) {
	case 0:
		_, _ = p.session.Release(ctx, p.w.group, partition)
	case 1:
		_ = p.session.ReleaseAll(ctx)
	default:
		_ = p.session.Close(ctx)
	}
}

// revokeOne takes a partition from whoever has it. When that is done, the holder must not believe in it any more.
func (p *fencer) revokeOne(ctx context.Context, partition int) {
	for epoch := p.epochOf(partition); ctx.Err() == nil; time.Sleep(ttl / 20) {
		if _, done, err := p.Revoke(ctx, p.w.group, partition, epoch); err == nil && done {
			p.seen.over(partition, epoch)
			return
		}
	}
}
