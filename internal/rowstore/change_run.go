package rowstore

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// Do carries the change through. It reads the row unless the cache has it, and writes until an
// attempt was applied or there is nothing to write. Each attempt has a rev of its own, and accepts
// the row as it was seen or as an earlier attempt would have left it, so that no attempt can take
// effect twice, nor after a later one.
//
// The error wraps [ErrUnknownOutcome] when an attempt was never answered and the row was not seen
// since.
func (c Change[R]) Do(ctx context.Context, t *Table) (Changed[R], error) {
	run := &running[R]{Change: c, table: t, timeout: t.Timeout(c.TTL)}
	if run.Budget == nil {
		run.Budget = t.Budget(c.TTL)
	}
	err := t.Try(ctx, run.Budget, run.timeout, Attempts{
		Enter: run.Enter, Next: run.next, Done: run.applied, Refused: run.refused, Unknown: run.unanswered, NotDone: run.turnedAway,
	})
	if err == nil && len(run.returned) > 0 {
		err = run.see(run.returned, run.answer)
	} else if err == nil && run.Returns && !run.fresh { // the client does not pass on what is returned
		_, err = run.read(ctx)
		run.unknown = err != nil
	}
	if err != nil {
		return run.fail(err)
	}
	return Changed[R]{run.seen, run.success, run.answer, run.doubted}, nil
}

// A running is the state of one change.
type running[R Row[R]] struct {
	Change[R]
	table   *Table
	timeout time.Duration

	at       Moment
	sighted  Moment // before the row was seen; unknown where the time was not known
	seen     Known[R]
	brought  request.Answer // the answer that brought it; zero for a row that was known
	known    bool           // seen is set
	fresh    bool           // seen is from a read or a refusal, with no attempt left open since
	attempts []Pending[R]
	unknown  bool     // an attempt was not answered, and the row was not seen since
	doubted  []string // the revs of attempts that were not answered
	refusals int

	success  *Pending[R]
	answer   request.Answer
	returned Item // the row as the write left it
}

// next decides from the row what to send. Nothing is sent when there is nothing to write, or when
// the row shows that an earlier attempt was applied.
func (r *running[R]) next(ctx context.Context) (Send, error) {
	for r.success == nil {
		if err := r.look(ctx); err != nil {
			return nil, err
		}
		if r.Consult != nil {
			if err := r.Consult(ctx, r.seen.Row, r.at.AsOf(r.brought), r.Budget, r.timeout); err != nil {
				return nil, err
			}
			if r.table.Timeless { // nothing is judged by the time: the attempt begins now
				r.at, _ = r.moment()
			}
		}
		p, err := r.Propose(r.seen, r.at.AsOf(r.brought))
		switch {
		case err != nil:
			return nil, err
		case p.Write:
			return r.attempt(p), nil
		case r.fresh && r.surely():
			return nil, nil
		}
		// Nothing is left to write: find out what became of the earlier attempts.
		answer, err := r.read(ctx)
		if err != nil {
			return nil, err
		}
		r.own(answer)
	}
	return nil, nil
}

// look sets the moment of the next attempt and makes sure that the row is known.
func (r *running[R]) look(ctx context.Context) error {
	var ok bool
	r.at, ok = r.moment()
	if !r.known {
		r.recall(ok)
	}
	for tries := 0; !r.known || !ok; tries++ {
		if err := again(ctx, r.Budget, tries); err != nil {
			return err
		}
		if _, err := r.read(ctx); err != nil {
			return err
		}
		r.known = true
		r.at, ok = r.moment()
	}
	return nil
}

func (r *running[R]) moment() (Moment, bool) {
	at, ok := r.table.Time.Moment()
	return at, ok || r.table.Timeless
}

// recall takes the row from the caller or from the cache, where that will do.
func (r *running[R]) recall(timeKnown bool) {
	switch {
	case r.Seen != nil:
		r.seen, r.known = *r.Seen, true
	case r.Cache != nil && r.Start != nil:
		r.seen, r.known = r.Cache.Recall(r.Key)
		r.known = r.known && timeKnown && r.Start(r.seen, r.at)
	}
}

// surely reports whether there is nothing to write by the time before the row was seen either. A
// row that has expired since may have been extended since, too: then it must be read again.
func (r *running[R]) surely() bool {
	if r.table.Timeless {
		return true
	}
	if !r.sighted.known() {
		return false
	}
	p, err := r.Propose(r.seen, r.sighted.AsOf(r.brought))
	return err != nil || !p.Write
}

func (r *running[R]) read(ctx context.Context) (request.Answer, error) {
	r.sighted = Moment{}
	if at, ok := r.table.Time.Moment(); ok {
		r.sighted = at
	}
	row, answer, err := r.table.Get(ctx, r.Key, r.Budget, r.timeout)
	if err != nil {
		return answer, err
	}
	return answer, r.see(row, answer)
}

// see takes in the row as it was read, or as a refusal brought it along. An empty item is a row
// that is not there.
func (r *running[R]) see(row Item, answer request.Answer) error {
	var seen R
	if len(row) > 0 {
		var err error
		if seen, err = r.Decode(row); err != nil {
			return err
		}
	}
	r.seen.See(seen)
	r.brought, r.fresh = answer, true
	return nil
}

func (r *running[R]) attempt(p Proposal[R]) Send {
	next := p.Next.WithRev(uuid.NewString())
	r.attempts = append(r.attempts, Pending[R]{next, r.at, r.By})
	if r.Sending != nil {
		r.Sending(*r.latest())
	}
	condition := p.Condition
	if condition == nil {
		revs := r.seen.RevIn(next, r.By)
		condition = &revs
	}
	update := r.table.Update(r.Key, *condition, next.Attributes())
	if r.Returns {
		return r.table.WriteReturning(update, &r.returned)
	}
	return r.table.Write(update, p.Together...)
}

func (r *running[R]) latest() *Pending[R] { return &r.attempts[len(r.attempts)-1] }

func (r *running[R]) applied(answer request.Answer) {
	r.success, r.answer, r.seen = r.latest(), answer, Known[R]{Row: r.latest().Row}
	r.fresh = false
}

func (r *running[R]) unanswered() {
	a := r.latest()
	r.unknown, r.fresh = true, false
	r.doubted = append(r.doubted, a.Row.Rev())
	r.seen.Add(a.Row, a.At, a.By)
}

func (r *running[R]) turnedAway(error) {
	if r.TurnedAway != nil {
		r.TurnedAway(*r.latest())
	}
}

// refused looks at the row that a refusal brought along: an earlier attempt of ours has left it,
// which then was applied and whose answer was lost, or somebody else has written it.
func (r *running[R]) refused(ctx context.Context, answer request.Answer, refusal error) (wait bool, err error) {
	row, came := RefusedRow(refusal)
	if !came { // the row may be as it was
		return r.together(ctx, refusal)
	}
	if err := r.see(row, answer); err != nil {
		return false, err
	}
	r.sighted = r.at
	r.own(answer)
	return r.crowded(), nil
}

// crowded counts a refusal, and reports whether to wait. The first one tells mostly that the row was
// not as the cache had it. After another one there are so many writers that they must be spread.
func (r *running[R]) crowded() bool {
	r.refusals++
	return r.success == nil && r.refusals > 1
}

// together reads the row after a refusal whose reason is another row of the transaction.
func (r *running[R]) together(ctx context.Context, refusal error) (wait bool, err error) {
	if r.Together != nil {
		if err := r.Together(refusal); err != nil {
			return false, err
		}
	}
	rev, unknown := r.seen.Row.Rev(), r.unknown
	answer, err := r.read(ctx)
	if err != nil {
		return false, err
	}
	r.own(answer)
	// An attempt that was not answered may be half committed: a row as it was does not show that.
	r.unknown = r.unknown || unknown && r.seen.Row.Rev() == rev
	crowded := r.crowded()
	return crowded || r.Together != nil && r.success == nil, nil // the store is busy with the rows
}

// own takes in whether the row, just seen, is as an attempt of ours left it.
func (r *running[R]) own(answer request.Answer) {
	r.unknown = false
	for i := range r.attempts {
		if a := &r.attempts[i]; a.Row.Rev() == r.seen.Row.Rev() {
			r.succeeded(a, answer)
			return
		}
	}
	if earlier, ok := r.seen.PendingRev(r.seen.Row.Rev()); ok && r.Counts != nil && r.Counts(earlier) {
		r.succeeded(&earlier, answer)
	}
}

func (r *running[R]) succeeded(by *Pending[R], answer request.Answer) {
	r.success, r.answer = by, answer
	if !r.Returns { // what was seen lacks what a row does not keep in the table
		r.seen.Row = by.Row
	}
}

// fail ends the change with an error. It leaves what may still be applied in the cache, where the
// next write of this row takes it into account.
func (r *running[R]) fail(err error) (Changed[R], error) {
	if len(r.seen.Pending) > 0 && r.Cache != nil {
		r.Cache.Keep(r.Key, r.seen, r.at)
	}
	// An attempt that was refused may have been delivered twice, the first time before somebody else
	// wrote.
	missed := len(r.doubted) > 0 || r.refusals > 0
	if r.unknown || missed && r.Hidden != nil && r.Hidden(r.seen.Row) {
		err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return Changed[R]{Known: r.seen, Doubted: r.doubted}, err
}
