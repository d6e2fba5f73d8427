package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Lease reads the live lease of one partition, and returns [ErrNotFound] if it is free. It ignores
// malformed rows of other partitions.
func (t *Table) Lease(ctx context.Context, group string, partition int) (Lease, error) {
	owners, err := t.Store.Owners(ctx, group)
	for _, owned := range owners {
		if owned.Partition == partition {
			return t.lease(owned), nil
		}
	}
	if err != nil {
		return Lease{}, err
	}
	return Lease{}, fmt.Errorf("%w: nobody holds %s/%d", ErrNotFound, group, partition)
}

// Holder tells the user who holds a lease, and what follows if it is taken.
func (l Lease) Holder() string {
	if l.Session == "" {
		return fmt.Sprintf(`%s/%d is held by %s under epoch %d, with %v left.
If it is taken, nothing extends it any more: it is free when that has passed, or when the holder releases it.
`, Printable(l.Group), l.Partition, Printable(l.Owner), l.Epoch, l.Left)
	}
	return fmt.Sprintf(`%s/%d is held by %s in session %s under epoch %d. The session has %v left.
If it is taken, the session is told with its next heartbeat, and releases it when its work has stopped (a coordinator: when the
handler has returned, or the drain timeout has passed). A session that is dead keeps it until it has expired.
`, Printable(l.Group), l.Partition, Printable(l.Owner), Printable(l.Session), l.Epoch, l.Left)
}

// A Released is the result of taking a lease from its holder.
type Released struct {
	Group     string `json:"group"`
	Partition int    `json:"partition"`
	From      string `json:"from"`       // the former owner
	FromEpoch int64  `json:"from_epoch"` // its epoch
	Ordered   bool   `json:"ordered"`    // certainly
	Done      bool   `json:"done"`
	Owner     string `json:"owner,omitempty"` // the present owner
	Epoch     int64  `json:"epoch"`           // as it is now; 0 if the row is gone
}

// Text returns one line.
func (r Released) Text() string {
	switch {
	case r.Done && r.Owner != "":
		return fmt.Sprintf("%s/%d is held by %s now, under epoch %d (before: %d)\n", Printable(r.Group), r.Partition, Printable(r.Owner), r.Epoch, r.FromEpoch)
	case r.Done:
		return fmt.Sprintf("%s/%d is free, epoch %d (before: %d)\n", Printable(r.Group), r.Partition, r.Epoch, r.FromEpoch)
	case r.Ordered:
		return fmt.Sprintf("%s/%d is still held by %s under epoch %d: the order stands; to wait for it: dynamolease release %s %d\n",
			Printable(r.Group), r.Partition, Printable(r.From), r.FromEpoch, word(r.Group), r.Partition)
	default:
		return fmt.Sprintf("%s/%d was held by %s under epoch %d: nothing tells whether the order stands\n", Printable(r.Group), r.Partition, Printable(r.From), r.FromEpoch)
	}
}

// Release takes a lease from its holder: it calls [dynamolease.Store.Revoke] until that is done or
// the waiting ends. A lost answer does no harm, because the next call finds out.
//
// It returns [ErrPending] if the order stands and the lease is not free yet, and
// [dynamolease.ErrUnknownOutcome] if the order may or may not stand. Other errors are those of
// Revoke.
func (t *Table) Release(ctx context.Context, held Lease, how Waiting) (Released, error) {
	r := releasing{table: t, held: held, how: &how, out: Released{
		Group: held.Group, Partition: held.Partition, From: held.Owner, FromEpoch: held.Epoch, Owner: held.Owner, Epoch: held.Epoch,
	}}
	err := r.run(ctx)
	return r.out, err
}

// releasing tracks a lease on its way from its holder.
type releasing struct {
	table   *Table
	held    Lease
	how     *Waiting
	out     Released
	doubt   bool  // it may stand: an attempt has an unknown outcome
	failure error // of the latest call, if it failed
	told    time.Time
}

func (r *releasing) run(ctx context.Context) error {
	for r.how.begin(); ; {
		err := r.try(ctx)
		switch {
		case r.out.Done:
			return nil
		case ctx.Err() != nil:
			return r.unfinished("interrupted")
		case err != nil:
			return r.unfinished("")
		case r.out.Ordered && r.how.Wait == 0:
			return nil
		case r.how.over():
			return r.unfinished(r.how.waited())
		}
		if !r.how.pause(ctx) {
			return r.unfinished("interrupted")
		}
	}
}

// try calls Revoke once. It returns an error if another try would be useless.
func (r *releasing) try(ctx context.Context) error {
	var lease dynamolease.Lease
	var done bool
	err := r.how.look(ctx, func(ctx context.Context) (err error) {
		lease, done, err = r.table.Store.Revoke(ctx, r.held.Group, r.held.Partition, r.held.Epoch)
		return err
	})
	r.failure = err
	if err == nil {
		r.out.Ordered, r.out.Done = true, done
		if done {
			r.out.Owner, r.out.Epoch = lease.Owner, lease.Epoch
			return nil
		}
		r.tell(lease)
		return nil
	}
	r.doubt = r.doubt || errors.Is(err, dynamolease.ErrUnknownOutcome)
	if hopeless(err) || !r.out.Ordered && !r.doubt {
		return err // a human must act first, or nothing was ordered
	}
	if ctx.Err() == nil {
		r.how.Tell(fmt.Sprintf("trying again: %v", err))
	}
	return nil
}

// tell says what Release waits for, at first and every ten seconds.
func (r *releasing) tell(lease dynamolease.Lease) {
	if r.how.Wait == 0 || !r.told.IsZero() && time.Since(r.told) < 10*time.Second {
		return
	}
	r.told = time.Now()
	what := "until " + Printable(lease.Owner) + " releases it or it has expired"
	if lease.Session != "" {
		what = "until session " + Printable(lease.Session) + " releases it or has expired"
	}
	r.how.Tell(fmt.Sprintf("ordered: waiting %s (%v left now), for %v at most", what, LeftUntil(r.table.Store, lease.ExpiresAt), r.how.Wait))
}

// unfinished returns why Release ended before the lease was free, and what is known of the order.
func (r *releasing) unfinished(why string) error {
	err, again := r.failure, fmt.Sprintf("to go on: dynamolease release %s %d", word(r.held.Group), r.held.Partition)
	switch {
	case r.out.Ordered && err != nil && why == "":
		return fmt.Errorf("%w: the order stands; %s: %w", ErrPending, again, err)
	case r.out.Ordered:
		return fmt.Errorf("%w: %s; the order stands, and %s/%d is free when its holder has released it or expired; %s", ErrPending, why, Printable(r.held.Group), r.held.Partition, again)
	case r.doubt && !errors.Is(err, dynamolease.ErrUnknownOutcome):
		err = fmt.Errorf("%w: %w", dynamolease.ErrUnknownOutcome, err)
	case r.doubt:
	case why != "":
		return fmt.Errorf("%s before anything was ordered: nothing was changed: %w", why, err)
	default:
		return err
	}
	if why == "" {
		why = "gave up"
	}
	return fmt.Errorf("%s: the order may stand; %s: %w", why, again, err)
}
