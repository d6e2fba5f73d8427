package dynamolease

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A settlement is the state of one settle.
type settlement[R record[R]] struct {
	store   *Store
	change  change[R]
	budget  *request.Budget
	timeout time.Duration

	at       moment
	sighted  moment // before the row was seen; without a clock where the time was not known
	seen     sighting[R]
	known    bool // seen is set
	fresh    bool // seen is from a read or a refusal, with no attempt left open since
	attempts []attempt[R]
	unknown  bool     // an attempt was not answered, and the row was not seen since
	doubted  []string // the revs of attempts that were not answered
	refusals int
}

// look sets the moment of the next attempt and makes sure that the row is known.
func (r *settlement[R]) look(ctx context.Context) error {
	var ok bool
	r.at, ok = r.store.timing.moment()
	if !r.known && r.change.seen != nil {
		r.seen, r.known = *r.change.seen, true
	}
	if !r.known {
		r.seen, r.known = r.change.rows.recall(r.change.key)
		r.known = r.known && ok && r.change.start(r.seen, r.at)
	}
	for tries := 0; !r.known || !ok; tries++ {
		if err := again(ctx, r.budget, tries); err != nil {
			return err
		}
		if _, err := r.read(ctx); err != nil {
			return err
		}
		r.known = true
		r.at, ok = r.store.timing.moment()
	}
	return nil
}

// surely tells whether there is nothing to write by the time before the row was seen either. A row that has expired since
// may have been extended since, too: then it is to be read again.
func (r *settlement[R]) surely() bool {
	if r.sighted.clock == nil {
		return false
	}
	p, err := r.change.propose(r.seen, r.sighted)
	return err != nil || p.action == leave
}

func (r *settlement[R]) read(ctx context.Context) (request.Answer, error) {
	r.sighted = moment{}
	if at, ok := r.store.timing.moment(); ok {
		r.sighted = at
	}
	row, answer, err := r.store.get(ctx, r.change.key, r.budget, r.timeout)
	if err != nil {
		return answer, err
	}
	return answer, r.see(row)
}

// see takes in the row as it was read, or as a refusal brought it along. An empty item is a row that is not there.
func (r *settlement[R]) see(row item) error {
	var seen R
	if len(row) > 0 {
		var err error
		if seen, err = r.change.decode(row); err != nil {
			return err
		}
	}
	r.seen.see(seen)
	r.fresh = true
	return nil
}

// try makes one attempt, or finds out what became of the earlier ones when there is nothing more to write. It returns
// nil, nil when the change is still to be settled.
func (r *settlement[R]) try(ctx context.Context, p proposal[R]) (*settled[R], error) {
	if p.action == leave {
		answer, err := r.read(ctx)
		if err != nil {
			return nil, err
		}
		return r.own(answer), nil
	}
	a := attempt[R]{p.next.revised(uuid.NewString()), r.at}
	r.attempts = append(r.attempts, a)
	answer, outcome, err := r.store.write(ctx, rowWrite{
		condition{r.change.key, r.seen.accepted(a.row, r.change.by)}, a.row.attributes(), p.check,
	}, r.budget.Timeout(r.timeout))
	switch outcome {
	case request.Done:
		return r.apply(&a, nil, answer), nil
	case request.Refused:
		return r.refused(ctx, err, answer)
	case request.Unknown:
		r.unknown, r.fresh = true, false
		r.doubted = append(r.doubted, a.row.revision())
		r.seen.add(a.row, r.change.by)
		return nil, r.budget.Again(ctx, err)
	case request.NotDone:
		return nil, r.budget.Again(ctx, err)
	default:
		return nil, err
	}
}

// refused looks at the row that a refusal brought along: left by an earlier attempt of ours, which then was applied and
// whose answer was lost, or written by somebody else.
func (r *settlement[R]) refused(ctx context.Context, err error, answer request.Answer) (*settled[R], error) {
	row, came := refusedItem(err)
	if !came { // the condition on another row did not hold, and this row may be as it was
		var readErr error
		if answer, readErr = r.read(ctx); readErr != nil {
			return nil, readErr
		}
	} else if seeErr := r.see(row); seeErr != nil {
		return nil, seeErr
	} else {
		r.sighted = r.at
	}
	if done := r.own(answer); done != nil {
		return done, nil
	}
	if r.refusals++; r.refusals > 2 {
		return nil, r.budget.Again(ctx, err) // many writers at once: spread them
	}
	return nil, nil
}

// own tells whether the row, just seen, is as an attempt of ours left it.
func (r *settlement[R]) own(answer request.Answer) *settled[R] {
	r.unknown = false
	for i := range r.attempts {
		a := &r.attempts[i]
		if a.row.revision() == r.seen.row.revision() {
			return r.apply(a, r.seen.unanswered, answer)
		}
	}
	return nil
}

func (r *settlement[R]) apply(a *attempt[R], open []unanswered[R], answer request.Answer) *settled[R] {
	return &settled[R]{sighting[R]{a.row, open}, a, answer, r.doubted}
}

// fail ends the change with an error, and leaves what may still be applied in the store's memory, where the next write
// of this row takes it into account.
func (r *settlement[R]) fail(err error) (settled[R], error) {
	if len(r.seen.unanswered) > 0 {
		r.change.rows.keep(r.change.key, r.seen, r.at)
	}
	// An attempt that was refused may have been delivered twice, the first time before somebody else wrote.
	missed := len(r.doubted) > 0 || r.refusals > 0
	if r.unknown || missed && r.change.hidden != nil && r.change.hidden(r.seen.row) {
		err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return settled[R]{seen: r.seen, doubted: r.doubted}, err
}
