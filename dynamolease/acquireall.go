package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// maxJoint leaves room for as many checks of sessions in one transaction.
const maxJoint = maxTransaction / 2

// AcquireAll acquires several partitions of a group (at most 50) for owner, all of them or none, in one transaction;
// those that owner holds already are extended. If others hold some, acquired is false, and the leases are theirs, in
// partition order. Two callers whose partitions overlap never wait for each other.
//
// It costs one Query of the partitions and two write units for each; a read and two write units more for each session
// that died with some of them. The error is that of [Store.Acquire]. Tables
// without transactions (multi-Region strong consistency) cannot do it.
func (s *Store) AcquireAll(ctx context.Context, group string, partitions []int, owner string, ttl time.Duration) (leases []Lease, acquired bool, err error) {
	if err := firstError(checkName("group", group), checkName("owner", owner), checkTTL(ttl)); err != nil {
		return nil, false, s.explain(err, "acquire all")
	}
	partitions = slices.Compact(slices.Sorted(slices.Values(partitions)))
	if n := len(partitions); n == 0 || n > maxJoint {
		return nil, false, s.explain(&ArgumentError{"partitions", fmt.Sprintf("are %d, 1 to %d are allowed", n, maxJoint)}, "acquire all")
	}
	j := &joint{store: s, ttl: ttl, budget: s.budget(ttl), timeout: s.timeout(ttl)}
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
	store   *Store
	ttl     time.Duration
	budget  *request.Budget
	timeout time.Duration
	parts   []*part        // in partition order
	answer  request.Answer // to the latest reading of the rows
	missed  bool           // an attempt was not answered, or refused
}

// A part is one lease of a joint. Attempt i of each part went out in the same transaction.
type part struct {
	acquisition
	seen     sighting[leaseRow]
	attempts []attempt[leaseRow]
	doubted  []string // the revs of those that were not answered
}

func (j *joint) run(ctx context.Context) ([]Lease, bool, error) {
	for {
		at, applied, err := j.look(ctx)
		if err != nil {
			return j.fail(ctx, err)
		}
		if applied >= 0 {
			leases := j.leases(applied, j.answer)
			j.since(leases)
			return leases, true, nil
		}
		if others := j.others(at); len(others) > 0 {
			return others, false, nil
		}
		answer, outcome, err := j.try(ctx, at)
		j.missed = j.missed || outcome == request.Refused || outcome == request.Unknown
		switch outcome {
		case request.Done:
			return j.leases(len(j.parts[0].attempts)-1, answer), true, nil
		case request.Refused: // somebody else was faster with one of them: look again
			err = j.budget.Again(ctx, err)
		case request.Unknown:
			for _, p := range j.parts {
				row := p.attempts[len(p.attempts)-1].row
				p.seen.add(row, p.holder)
				p.doubted = append(p.doubted, row.rev)
			}
			err = j.budget.Again(ctx, err)
		case request.NotDone:
			err = j.budget.Again(ctx, err)
		}
		if err != nil {
			return j.fail(ctx, err)
		}
	}
}

// look reads all rows, and tells which earlier attempt has been applied, if one has: -1 for none. An attempt was applied
// as a whole, so one row tells, and another may have been revoked or renewed since.
func (j *joint) look(ctx context.Context) (at moment, applied int, err error) {
	first, last := j.parts[0].key, j.parts[len(j.parts)-1].key
	view, err := queryNow(ctx, j.store, rowRange{first.pk, first.sk, last.sk}, j.budget, j.ttl, tolerant(decodeLease))
	if err != nil {
		return at, -1, err
	}
	j.answer = view.answer
	found := byKey(view.rows)
	sessions := make(map[key]memberRow)
	for _, p := range j.parts {
		if err := found[p.key].err; err != nil {
			return at, -1, err
		}
		p.seen.see(found[p.key].row)
		var known bool
		if p.other, known = sessions[p.seen.row.session]; known {
			continue
		}
		if err := p.consult(ctx, p.seen.row, j.budget, j.timeout); err != nil {
			return at, -1, err
		}
		sessions[p.seen.row.session] = p.other
	}
	applied = -1
	for _, p := range j.parts {
		applied = max(applied, slices.IndexFunc(p.attempts, func(a attempt[leaseRow]) bool { return a.row.rev == p.seen.row.rev }))
	}
	return view.at, applied, nil
}

// others are the leases that somebody else holds.
func (j *joint) others(at moment) []Lease {
	var leases []Lease
	for _, p := range j.parts {
		if row := p.seen.row; p.live(row, at) && !row.heldBy(p.holder) {
			leases = append(leases, p.describe(row))
		}
	}
	return leases
}

func (j *joint) try(ctx context.Context, at moment) (request.Answer, request.Outcome, error) {
	var actions []types.TransactWriteItem
	var checks []types.TransactWriteItem
	checked := make(map[key]bool)
	for _, p := range j.parts {
		proposed, err := p.propose(p.seen, at)
		if err != nil {
			return request.Answer{}, request.Failed, err
		}
		next := proposed.next.revised(uuid.NewString())
		p.attempts = append(p.attempts, attempt[leaseRow]{next, at})
		actions = append(actions, types.TransactWriteItem{Update: j.store.update(condition{p.key, p.seen.accepted(next, p.holder)}, next.attributes())})
		if c := proposed.check; c != nil && !checked[c.key] {
			checked[c.key] = true
			checks = append(checks, types.TransactWriteItem{ConditionCheck: j.store.conditionCheck(*c)})
		}
	}
	input := &dynamodb.TransactWriteItemsInput{TransactItems: append(actions, checks...)}
	return j.store.sender.Do(ctx, j.budget.Timeout(j.timeout), func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := j.store.client.TransactWriteItems(ctx, input, opt)
		return err
	})
}

// leases are what an attempt acquired.
func (j *joint) leases(applied int, answer request.Answer) []Lease {
	leases := make([]Lease, len(j.parts))
	for i, p := range j.parts {
		a := p.attempts[applied]
		j.store.leases.keep(p.key, sighting[leaseRow]{row: a.row}, a.at)
		leases[i] = a.row.lease()
		leases[i].tenure = a.at.tenure(j.ttl, a.row.exp, answer)
	}
	return leases
}

// since takes into account what others have done to leases after they were acquired.
func (j *joint) since(leases []Lease) {
	for i, p := range j.parts {
		row := p.seen.row
		leases[i].revoked = row.revoked && row.holder == p.holder && row.epoch == leases[i].Epoch
		if known, _ := j.store.leases.recall(p.key); known.row.rev != row.rev {
			j.store.leases.forget(p.key)
		}
	}
}

// fail gives up in the background what may have been acquired without being known. What another call of the holder has extended
// since stays.
func (j *joint) fail(ctx context.Context, err error) ([]Lease, bool, error) {
	if len(j.parts[0].seen.unanswered) == 0 {
		if j.missed && slices.ContainsFunc(j.parts, func(p *part) bool { return p.seen.row.heldBy(p.holder) }) {
			err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
		}
		return nil, false, err
	}
	for _, p := range j.parts {
		last := p.attempts[len(p.attempts)-1]
		j.store.leases.keep(p.key, p.seen, last.at)
		p.abandon(ctx, p.doubted)
	}
	return nil, false, fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}
