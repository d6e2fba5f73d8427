package dynamolease

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A change is a compare-and-set of one row, described by what to do with the row as it is seen.
type change[R record[R]] struct {
	key    key
	rows   *memory[R]
	decode func(item) (R, error)
	by     holder // for whom it is; the zero holder for what is not a lease, or for nobody who was there before

	// propose decides what to write on top of the row that was seen. It is called again with the row as it became when
	// somebody else wrote first, and with a new moment for each attempt, so it must decide from these alone.
	propose func(seen sighting[R], at moment) (proposal[R], error)

	// consult looks up what propose needs besides the row; nil for nothing.
	consult func(ctx context.Context, seen R, budget *request.Budget, timeout time.Duration) error

	// start tells whether a row that the store remembers will do to begin with; otherwise it is read. A decision not to
	// write must come from a read, since nothing checks it afterwards.
	start func(sighting[R], moment) bool

	// seen is the row where the caller has looked it up; nil to have it recalled or read.
	seen *sighting[R]

	// hidden tells of a row that somebody else has left whether an attempt may have been applied before that; nil where the
	// row would show it.
	hidden func(R) bool

	ttl    time.Duration   // bounds each request, and the whole; zero for operations without one
	budget *request.Budget // of the call that this is a part of; nil for one of its own
}

// anyRow is the hidden of a change that others undo: the row does not show what was there before.
func anyRow[R any](R) bool { return true }

// A proposal is what to do with a row.
type proposal[R record[R]] struct {
	action action
	next   R
	check  *condition // on another row, checked in the same transaction; nil for none
}

// A condition is that a row has one of the accepted revs, where "" stands for a row that is not there.
type condition struct {
	key      key
	accepted []string
}

type action int

const (
	leave action = iota // nothing to write: the row that was seen is the answer
	write               // make the row next
)

// An attempt is one write of a change.
type attempt[R record[R]] struct {
	row R // with the attempt's own rev
	at  moment
}

// A settled change is one whose outcome is known.
type settled[R record[R]] struct {
	seen    sighting[R] // the row as it is now
	applied *attempt[R] // the attempt that was applied; nil when propose had nothing to write
	answer  request.Answer
	doubted []string // the revs of attempts that were never answered
}

// settle carries a change through: it reads the row unless the store remembers it, and writes until an attempt was
// applied or there is nothing to write. Each attempt has a rev of its own, and accepts the row as it was seen or as an
// earlier attempt would have left it, so that no attempt can take effect twice, nor after a later one.
//
// The error is [ErrUnknownOutcome] when an attempt was never answered and the row was not seen since.
func settle[R record[R]](ctx context.Context, s *Store, c change[R]) (settled[R], error) {
	run := &settlement[R]{store: s, change: c, budget: c.budget, timeout: s.timeout(c.ttl)}
	if run.budget == nil {
		run.budget = s.budget(c.ttl)
	}
	if err := run.budget.Spent(); err != nil {
		return run.fail(err)
	}
	for {
		if err := run.look(ctx); err != nil {
			return run.fail(err)
		}
		if c.consult != nil {
			if err := c.consult(ctx, run.seen.row, run.budget, run.timeout); err != nil {
				return run.fail(err)
			}
		}
		p, err := c.propose(run.seen, run.at)
		if err != nil {
			return run.fail(err)
		}
		if p.action == leave && run.fresh && run.surely() {
			return settled[R]{seen: run.seen, doubted: run.doubted}, nil
		}
		done, err := run.try(ctx, p)
		if err != nil {
			return run.fail(err)
		}
		if done != nil {
			return *done, nil
		}
	}
}
