package history

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

const (
	identity = "writer"
	bootTTL  = 10 * time.Second
)

// A bootCall holds the additional arguments and results of calls to process leases.
type bootCall struct {
	owner    uuid.UUID // the caller, or the boot about which it asks
	lease    processlease.Record
	acquired bool
	fence    *processlease.Fence
}

func (b bootCall) String() string {
	if b.owner == uuid.Nil {
		return ""
	}
	text := fmt.Sprintf(", boot %.8s: %v of %.8s term %d seq %d", b.owner, b.acquired, b.lease.Owner, b.lease.Term, b.lease.Seq)
	if b.fence != nil {
		text += fmt.Sprintf(", fence of term %d", b.fence.Predecessor.Term)
	}
	return text
}

// A boot is one start of a process. It tries to get the identity, or to fence its holder.
type boot struct {
	w         *world
	number    int
	owner     uuid.UUID
	dice      *rand.Rand
	path      *path
	clock     *clock
	authority *processlease.Authority
	store     *processlease.Identity
}

// rule runs one boot after another until ctx ends.
func (w *world) rule(ctx context.Context, stream uint64) {
	dice := rand.New(rand.NewPCG(w.seed, stream))
	for ctx.Err() == nil {
		b, err := w.newBoot(int(stream), rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64())))
		if err != nil {
			w.problem("start a boot: %v", err)
			return
		}
		if b.dice.IntN(5) == 0 {
			b.fence(ctx)
		} else {
			b.reign(ctx)
		}
		b.authority.Close()
		pause(ctx, b.upTo(2*time.Second))
	}
}

func (w *world) newBoot(number int, dice *rand.Rand) (*boot, error) {
	b := &boot{w: w, number: number, dice: dice}
	binary.BigEndian.PutUint64(b.owner[:], dice.Uint64())
	binary.BigEndian.PutUint64(b.owner[8:], dice.Uint64())
	b.path = w.newPath(dice)
	b.clock = &clock{origin: time.Now(), ppm: dice.Int64N(300) - 150}
	if w.slewed {
		b.clock.slew(dice)
	}
	var err error
	b.authority, err = processlease.NewAuthority(b.path.client(), w.db.table, bootTTL, func(o *processlease.Options) {
		o.Elapsed, o.Logger = b.clock.elapsed, slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	if err != nil {
		return nil, err
	}
	b.store, err = b.authority.Identity(identity)
	return b, err
}

func (b *boot) upTo(d time.Duration) time.Duration { return time.Duration(1 + b.dice.Int64N(int64(d))) }

// do makes a call.
func (b *boot) do(ctx context.Context, what kind, f func(ctx context.Context, c *call)) *call {
	c := b.w.begin(&call{what: what, node: b.number, boot: bootCall{owner: b.owner}})
	f(context.WithValue(ctx, callKey{}, c), c)
	b.w.end(c)
	return c
}

// outcome notes the result of an attempt to get the lease.
func (c *call) outcome(out processlease.Result, err error) processlease.Result {
	c.err, c.yes = err, err == nil
	if err == nil {
		c.boot.lease, c.boot.acquired, c.boot.fence = out.Record, out.Acquired, out.Fence
	}
	return out
}

// reign gets the identity, keeps it for a while, and ends in one of several ways.
func (b *boot) reign(ctx context.Context) {
	out := b.acquire(ctx)
	if !out.Acquired {
		return
	}
	var manager *processlease.Manager
	c := b.w.begin(&call{what: manage, node: b.number, boot: bootCall{owner: b.owner, lease: out.Record}})
	manager, c.err = processlease.NewManager(context.WithValue(ctx, callKey{}, c), out)
	if c.err == nil {
		b.w.reigning(&reign{manager, out.Record})
		b.rest(ctx, manager)
		b.verify(ctx)
		b.w.reigning(nil)
		b.rest(ctx, manager)
		b.resign(ctx, manager)
		manager.Close()
		if manager.Valid() || manager.Remaining() > 0 {
			b.w.problem("the manager is valid after its end: %v", c)
		}
	}
	b.w.end(c)
}

// acquire gets the identity in one call, or step by step.
func (b *boot) acquire(ctx context.Context) (out processlease.Result) {
	if b.dice.IntN(2) == 0 {
		b.do(ctx, acquireBoot, func(ctx context.Context, c *call) {
			out = c.outcome(b.store.Acquire(ctx, b.owner, 5*time.Second+b.upTo(35*time.Second)))
		})
		return out
	}
	b.do(ctx, tryAcquire, func(ctx context.Context, c *call) { out = c.outcome(b.store.TryAcquire(ctx, b.owner)) })
	if out.Acquired {
		return out
	}
	var observed processlease.Observation
	c := b.do(ctx, observeRival, func(ctx context.Context, c *call) {
		observed, c.err = b.store.ObserveRival(ctx, b.owner)
		c.yes, c.boot.lease = c.err == nil, observed.Record()
	})
	if c.err != nil {
		return out
	}
	if b.dice.IntN(3) > 0 { // otherwise the takeover comes too early
		for observed.Remaining() > 0 && pause(ctx, observed.Remaining()) {
		}
	}
	b.path.links.forget()
	b.clock.step(b.upTo(bootTTL) * time.Duration(b.dice.IntN(4)/3))
	b.do(ctx, tryTakeover, func(ctx context.Context, c *call) { out = c.outcome(b.store.TryTakeover(ctx, observed)) })
	return out
}

func (b *boot) rest(ctx context.Context, manager *processlease.Manager) {
	timer := time.NewTimer(b.upTo(bootTTL + bootTTL/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-manager.Done():
	case <-ctx.Done():
	}
}

// verify asks whether this boot is the current one.
func (b *boot) verify(ctx context.Context) {
	b.do(ctx, verifyCurrent, func(ctx context.Context, c *call) {
		c.boot.acquired, c.err = b.authority.VerifyCurrentParticipant(ctx, processlease.Participant{Node: identity, Owner: b.owner})
		c.yes = c.err == nil
	})
}

// resign ends a reign: the boot resigns, its clock steps, its machine suspends, or it just stops.
func (b *boot) resign(ctx context.Context, manager *processlease.Manager) {
	switch b.dice.IntN(4) {
	case 0:
		b.do(ctx, resign, func(ctx context.Context, c *call) {
			c.err = manager.Resign(ctx)
			c.yes = c.err == nil
		})
	case 1:
		b.clock.step(bootTTL)
		b.rest(ctx, manager)
	case 2:
		b.clock.suspend(b.upTo(2 * bootTTL))
	}
}

// fence supersedes the holder of the identity, and verifies the fence.
func (b *boot) fence(ctx context.Context) {
	var current processlease.Record
	c := b.do(ctx, load, func(ctx context.Context, c *call) {
		current, c.boot.acquired, c.err = b.store.Load(ctx)
		c.yes, c.boot.lease = c.err == nil, current
	})
	if c.err != nil || !c.boot.acquired {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bootTTL/2+b.upTo(2*bootTTL))
	defer cancel()
	c = b.do(ctx, fence, func(ctx context.Context, c *call) {
		c.boot.owner = current.Owner
		f, err := b.authority.FenceIncarnation(ctx, processlease.Participant{Node: identity, Owner: current.Owner})
		if c.err, c.yes = err, err == nil; c.yes {
			c.boot.fence = &f
		}
	})
	if c.boot.fence == nil {
		return
	}
	b.do(ctx, verifyFence, func(ctx context.Context, v *call) {
		v.boot.owner, v.boot.fence = current.Owner, c.boot.fence
		v.boot.acquired, v.err = b.authority.VerifyFence(ctx, *c.boot.fence)
		v.yes = v.err == nil
	})
}
