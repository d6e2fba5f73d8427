package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// AcquireAll acquires several partitions of a group (at most 100) for owner, all of them or none, in
// one transaction; those that owner holds already are extended. If others hold some, acquired is
// false, and the leases are theirs, in partition order. Two callers whose partitions overlap never
// wait for each other.
//
// It costs one Query of the partitions and two write units for each; a read and a write unit more
// for each session that died with some of them. Fenced work that lands under one of them meanwhile
// makes it look again. The error is that of [Store.Acquire]. Tables without transactions (multi-Region
// strong consistency) cannot do it.
func (s *Store) AcquireAll(ctx context.Context, group string, partitions []int, owner string, ttl time.Duration) (leases []Lease, acquired bool, err error) {
	if err := firstError(checkName("group", group), checkName("owner", owner), checkTTL(ttl)); err != nil {
		return nil, false, s.explain(err, "acquire all")
	}
	partitions = slices.Compact(slices.Sorted(slices.Values(partitions)))
	if n := len(partitions); n == 0 || n > rowstore.MaxActions {
		return nil, false, s.explain(&ArgumentError{"partitions", fmt.Sprintf("has %d entries, 1 to %d are allowed", n, rowstore.MaxActions)}, "acquire all")
	}
	j := &joint{store: s, ttl: ttl, budget: s.rows.Budget(ttl)}
	for _, partition := range partitions {
		if err := checkPartition("partitions", partition); err != nil {
			return nil, false, s.explain(err, "acquire all")
		}
		j.parts = append(j.parts, &part{acquisition: acquisition{
			store: s, key: leaseKey(group, partition), holder: holder{owner: owner}, ttl: ttl,
		}})
	}
	leases, acquired, err = j.run(ctx)
	return leases, acquired, s.explain(err, "acquire %d partitions of %s", len(partitions), group)
}

// A joint is an acquisition of several leases in one transaction.
type joint struct {
	store  *Store
	ttl    time.Duration
	budget *request.Budget
	parts  []*part // in partition order

	others []Lease // that somebody else holds, by the latest look; empty before
	leases []Lease // that an attempt acquired
	answer request.Answer
	missed bool // an attempt was not answered, or refused
}

// A part is one lease of a joint. Attempt i of each part went out in the same transaction.
type part struct {
	acquisition
	seen     rowstore.Known[leaseRow]
	attempts []rowstore.Pending[leaseRow]
	doubted  []string // the revs of those that were not answered
}

func (p *part) latest() rowstore.Pending[leaseRow] { return p.attempts[len(p.attempts)-1] }

func (j *joint) run(ctx context.Context) ([]Lease, bool, error) {
	err := j.store.rows.Try(ctx, j.budget, j.store.rows.Timeout(j.ttl), rowstore.Attempts{
		Next:    j.next,
		Done:    func(answer request.Answer) { j.acquired(len(j.parts[0].attempts)-1, answer) },
		Refused: j.refused,
		Unknown: j.unanswered,
	})
	switch {
	case err != nil:
		return nil, false, j.fail(ctx, err)
	case len(j.others) > 0:
		return j.others, false, nil
	case slices.ContainsFunc(j.leases, func(l Lease) bool { return l.Remaining() == 0 }):
		for _, p := range j.parts {
			j.store.leases.Forget(p.key, p.latest().Row)
			p.abandon(ctx, p.revs())
		}
		return nil, false, errNothingLeft
	}
	return j.leases, true, nil
}

// revs returns the revs that the attempts have left, or would have.
func (p *part) revs() []string {
	revs := make([]string, len(p.attempts))
	for i, a := range p.attempts {
		revs[i] = a.Row.rev
	}
	return revs
}

// next reads all rows, and returns the transaction that acquires them: nil if an earlier one did,
// or if others hold some.
func (j *joint) next(ctx context.Context) (rowstore.Send, error) {
	at, err := j.look(ctx)
	if err != nil {
		return nil, err
	}
	if applied := j.applied(); applied >= 0 {
		j.acquired(applied, j.answer)
		j.since()
		return nil, nil
	}
	for _, p := range j.parts {
		if row := p.seen.Row; p.live(row, at) && !row.heldBy(p.holder) {
			j.others = append(j.others, p.describe(row))
			p.refused(row)
		}
	}
	if len(j.others) > 0 {
		return nil, nil
	}
	return j.attempt(at)
}

// look reads all rows, and the sessions that hold some of them.
func (j *joint) look(ctx context.Context) (rowstore.Moment, error) {
	rows := j.store.rows
	first, last := j.parts[0].key, j.parts[len(j.parts)-1].key
	between := rowstore.Range{PK: first.PK, First: first.SK, Last: last.SK}
	view, err := rowstore.QueryNow(ctx, rows, between, j.budget, j.ttl, rowstore.Tolerant(decodeLease))
	if err != nil {
		return view.At, err
	}
	j.answer = view.Answer
	found := rowstore.ByKey(view.Rows)
	sessions := make(map[rowstore.Key]memberRow)
	for _, p := range j.parts {
		if err := found[p.key].Err; err != nil {
			return view.At, err
		}
		p.seen.See(found[p.key].Row)
		var known bool
		if p.other, known = sessions[p.seen.Row.session]; known && p.seen.Row.inSession() {
			continue
		}
		if err := p.consult(ctx, p.seen.Row, view.At, j.budget, rows.Timeout(j.ttl)); err != nil {
			return view.At, err
		}
		sessions[p.seen.Row.session] = p.other
	}
	return view.At, nil
}

// applied returns which attempt has been applied; -1 for none. An attempt was applied as a whole,
// so one row tells, and another may have been revoked or renewed since.
func (j *joint) applied() int {
	applied := -1
	for _, p := range j.parts {
		applied = max(applied, slices.IndexFunc(p.attempts, func(a rowstore.Pending[leaseRow]) bool {
			return a.Row.rev == p.seen.Row.rev
		}))
	}
	return applied
}

func (j *joint) attempt(at rowstore.Moment) (rowstore.Send, error) {
	var actions []types.TransactWriteItem
	for _, p := range j.parts {
		proposed, err := p.propose(p.seen, at)
		if err != nil {
			return nil, err
		}
		next := proposed.Next.WithRev(uuid.NewString())
		p.attempts = append(p.attempts, rowstore.Pending[leaseRow]{Row: next, At: at, By: p.holder})
		asSeen := p.seen.RevIn(next, p.holder)
		asSeen.AnyOf = rowstore.Choice{Name: attrWork, Values: []string{p.seen.Row.work}} // as transactions return no row
		update := j.store.rows.Update(p.key, asSeen, next.Attributes())
		actions = append(actions, types.TransactWriteItem{Update: update})
	}
	return j.store.rows.Transact(actions), nil
}

// refused takes in that somebody else was faster with one of the rows: look again.
func (j *joint) refused(context.Context, request.Answer, error) (wait bool, err error) {
	j.missed = true
	return true, nil
}

func (j *joint) unanswered() {
	j.missed = true
	for _, p := range j.parts {
		a := p.latest()
		p.seen.Add(a.Row, a.At, a.By)
		p.doubted = append(p.doubted, a.Row.rev)
	}
}

// acquired takes in that an attempt was applied.
func (j *joint) acquired(attempt int, answer request.Answer) {
	j.leases = make([]Lease, len(j.parts))
	for i, p := range j.parts {
		a := p.attempts[attempt]
		j.store.leases.Keep(p.key, rowstore.Known[leaseRow]{Row: a.Row}, a.At)
		j.leases[i] = a.Row.lease()
		j.leases[i].validity = newValidity(j.store.rows.Time, a.At, j.ttl, a.Row.exp, answer)
		j.leases[i].progress = j.store.works.acquired(p.key, p.holder, a.Row.epoch, a.Row.work)
	}
}

// since takes into account what others have done to leases after they were acquired.
func (j *joint) since() {
	for i, p := range j.parts {
		row := p.seen.Row
		j.leases[i].revoked = row.revoked && row.holder == p.holder && row.epoch == j.leases[i].Epoch
		if known, _ := j.store.leases.Recall(p.key); known.Row.rev != row.rev {
			j.store.leases.Forget(p.key, row)
		}
	}
}

// fail gives up in the background what may have been acquired without being known. What another
// call of the holder has extended since stays.
func (j *joint) fail(ctx context.Context, err error) error {
	if !slices.ContainsFunc(j.parts, func(p *part) bool { return len(p.seen.Pending) > 0 }) {
		if j.missed && slices.ContainsFunc(j.parts, func(p *part) bool { return p.seen.Row.heldBy(p.holder) }) {
			err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
		}
		return err
	}
	for _, p := range j.parts {
		if len(p.seen.Pending) == 0 {
			continue // somebody has written it since: nothing of ours is in it, nor will be
		}
		j.store.leases.Keep(p.key, p.seen, p.latest().At)
		p.abandon(ctx, p.doubted)
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}
