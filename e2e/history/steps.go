package history

import (
	"context"
	"math/rand/v2"
	"time"
)

// A plan is the next step of a hand. draw makes all its random choices at once, so that the outcome
// of one step changes no later plan.
type plan struct {
	roll      int // 0 to 99
	partition int
	ttl       time.Duration
	patience  time.Duration
	rest      time.Duration // until the next step
	length    time.Duration // of steps that take time, such as a suspend
	coin      int           // 0 to 99
}

func draw(dice *rand.Rand) plan {
	p := plan{
		roll: dice.IntN(100), partition: dice.IntN(partitions), ttl: leaseTTL, patience: leaseTTL,
		rest:   time.Duration(1 + dice.Int64N(int64(900*time.Millisecond))),
		length: time.Duration(1 + dice.Int64N(int64(2*leaseTTL+leaseTTL/2))),
		coin:   dice.IntN(100),
	}
	short, hurry := dice.IntN(6) == 0, dice.IntN(10)
	if short {
		p.ttl = leaseTTL / 2
	}
	switch some := time.Duration(1 + dice.Int64N(int64(3*time.Second))); hurry {
	case 0:
		p.patience = some / 60
	case 1, 2:
		p.patience = some
	}
	return p
}

// work runs the working hand for a number of steps.
func (n *node) work(ctx context.Context, steps int) {
	for range steps {
		p := draw(n.hand)
		n.step(p)
		n.w.checkBeliefs()
		if !pause(ctx, p.rest) {
			return
		}
	}
}

// step does one thing.
func (n *node) step(p plan) {
	if n.obey(p) {
		return
	}
	switch {
	case p.roll < 24:
		n.pounce(p)
		n.acquire(p)
	case p.roll < 28:
		n.acquireAll(p)
	case p.roll < 29:
		n.revoke(p)
	case p.roll < 36:
		n.release(p)
	case p.roll < 64:
		n.transact(p)
	case p.roll < 69:
		n.checkpoint(p)
	case p.roll < 72:
		n.resume(p)
	case p.roll < 77:
		n.owners(p)
	case p.roll < 81:
		n.members(p)
	case p.roll < 84:
		n.heartbeat(p)
	case p.roll < 87:
		n.leave(p)
	case p.roll < 89:
		n.closeSession(p)
	case p.roll < 91:
		n.reap(p)
	case p.roll < 93:
		n.path.links.forget()
		n.clock.step(p.length * time.Duration(1+p.coin*p.coin/20)) // up to three hours
	case p.roll < 95:
		n.path.links.suspend(true) // its clocks disagree more and more
		n.clock.suspend(p.length)
		n.path.links.suspend(false)
	case p.roll < 97:
		time.Sleep(p.length) // the process stands still, and its clocks go on
	case p.roll < 98:
		n.drain(p)
	default:
		if p.coin < 70 {
			n.lastWords(p)
		}
		n.restart()
	}
}

// keep runs the keeper until ctx ends. It sends heartbeats or renewals.
func (n *node) keep(ctx context.Context) {
	for {
		p := draw(n.keeper)
		if !pause(ctx, p.rest+leaseTTL/10) {
			return
		}
		if p.roll < 15 {
			continue // skip one, so that the next is late
		}
		if n.joins {
			n.beat(p)
		} else {
			n.renew(p)
		}
	}
}

// discipline runs a time daemon until ctx ends: it slews the clocks of the node.
func (n *node) discipline(ctx context.Context) {
	dice := rand.New(rand.NewPCG(n.w.seed, uint64(10*(n.number+1)+4)))
	for {
		n.clock.slew(dice)
		if !pause(ctx, time.Duration(1+dice.Int64N(int64(2*leaseTTL)))) {
			return
		}
	}
}

// operate runs an operator until ctx ends.
func (n *node) operate(ctx context.Context) {
	for {
		p := draw(n.hand)
		if p.roll < 60 {
			n.insist(ctx, p)
		} else {
			n.drain(p)
		}
		if !pause(ctx, p.rest+leaseTTL/5) {
			return
		}
	}
}

// patrol runs a reaper until ctx ends.
func (n *node) patrol(ctx context.Context) {
	for {
		p := draw(n.hand)
		n.reap(p)
		if !pause(ctx, p.rest) {
			return
		}
	}
}
