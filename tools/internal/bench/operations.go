package bench

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// An operation is one row of the comparison.
type operation struct {
	name  string
	block int // calls of one side in its turn
	each  bool

	// seed makes the rows that the calls need, and prepare runs before each call. Neither is
	// measured.
	seed    func(context.Context, party) error
	prepare func(ctx context.Context, s side, i int) error

	// call makes the i-th call. The first one of a side is not measured: it may learn what is in
	// the table.
	call func(ctx context.Context, s side, i int) error
}

// many is the number of rows of the operations on many. It fits one transaction.
const many = 100

const onlyNode = "node-0000"

var operations = []operation{
	{
		name: "Acquire, free", block: 8,
		call: func(ctx context.Context, s side, i int) error { return s.acquire(ctx, i) },
	},
	{
		name: "Acquire, extends", block: 12,
		call: func(ctx context.Context, s side, _ int) error { return s.acquire(ctx, 0) },
	},
	{
		name: "Acquire, held by another", block: 12,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, 1, "other"+p.owner[5:]) },
		call: func(ctx context.Context, s side, _ int) error { return s.refused(ctx, 0) },
	},
	{
		name: "Renew 1, transaction", block: 8,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, 1, p.owner) },
		call: func(ctx context.Context, s side, _ int) error { return s.renew(ctx, 1) },
	},
	{
		name: "Renew 100, transaction", block: 1,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, many, p.owner) },
		call: func(ctx context.Context, s side, _ int) error { return s.renew(ctx, many) },
	},
	{
		name: "Renew 100, each item", block: 1, each: true,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, many, p.owner) },
		call: func(ctx context.Context, s side, _ int) error { return s.renew(ctx, many) },
	},
	{
		name: "Release", block: 8,
		prepare: func(ctx context.Context, s side, i int) error { return s.acquire(ctx, i) },
		call:    func(ctx context.Context, s side, i int) error { return s.release(ctx, i) },
	},
	{
		name: "Owners of 100", block: 4,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, many, p.owner) },
		call: func(ctx context.Context, s side, _ int) error { return s.owners(ctx, many) },
	},
	{
		name: "Heartbeat", block: 12,
		call: func(ctx context.Context, s side, _ int) error { return s.heartbeat(ctx, onlyNode) },
	},
	{
		name: "Members of 100", block: 4,
		seed: func(ctx context.Context, p party) error { return p.seedMembers(ctx, many) },
		call: func(ctx context.Context, s side, _ int) error { return s.members(ctx, many) },
	},
	{
		name: "Leave", block: 8,
		prepare: func(ctx context.Context, s side, _ int) error { return s.heartbeat(ctx, onlyNode) },
		call:    func(ctx context.Context, s side, _ int) error { return s.leave(ctx, onlyNode) },
	},
}

// operation measures one operation, and records its requests.
func (b *bench) operation(ctx context.Context, o operation) (operationRow, bill, error) {
	bill, err := b.bill(ctx, o)
	if err != nil {
		return operationRow{}, bill, err
	}
	library, bare, err := b.lab.sides(ctx, o)
	if err != nil {
		return operationRow{}, bill, err
	}
	// Nothing records here: both sides talk to the server directly.
	t, err := takeTurns(ctx, b.rounds, o.block, b.limit, library, bare)
	if err != nil {
		return operationRow{}, bill, err
	}
	row := operationRow{Operation: o.name, Requests: bill.Requests, Library: t.timing(0), Bare: t.timing(1), Ratio: t.ratio(0, 1)}
	calls := min(15, b.rounds)
	if row.LibraryMemory, err = library.memory(ctx, calls); err != nil {
		return row, bill, err
	}
	row.BareMemory, err = bare.memory(ctx, calls)
	return row, bill, err
}

// sides prepares both sides of an operation, each with its own rows, on one client.
func (l *lab) sides(ctx context.Context, o operation) (library, bare *runner, err error) {
	client := l.client()
	if library, err = l.library(ctx, client, o); err != nil {
		return nil, nil, err
	}
	bare, err = l.bare(ctx, client, o)
	return library, bare, err
}

// library returns the library's side of an operation, and bare the other.
func (l *lab) library(ctx context.Context, client *dynamodb.Client, o operation) (*runner, error) {
	how := dynamolease.Transactions
	if o.each {
		how = dynamolease.EachItem
	}
	p := l.party(client)
	s, err := newLibrary(p, how)
	if err != nil {
		return nil, err
	}
	return newRunner(ctx, o, p, s)
}

func (l *lab) bare(ctx context.Context, client *dynamodb.Client, o operation) (*runner, error) {
	p := l.party(client)
	return newRunner(ctx, o, p, newBare(p, o.each))
}

// newRunner makes the rows of an operation, and a call that does not count.
func newRunner(ctx context.Context, o operation, p party, s side) (*runner, error) {
	if o.seed != nil {
		if err := o.seed(ctx, p); err != nil {
			return nil, err
		}
	}
	r := &runner{operation: o, side: s}
	if _, err := r.time(ctx); err != nil {
		return nil, fmt.Errorf("%T: %w", s, err)
	}
	return r, nil
}
