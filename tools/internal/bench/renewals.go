package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	thousand = 1000
	distance = 5 * time.Millisecond // of a store in the same Region

	// growthTarget bounds how much longer the renewal of 1,000 leases may take than that of 100.
	growthTarget = 2.5
)

// A renewalOf is a row on the cost of many renewals.
type renewalOf struct {
	each  bool
	stand bool // to a stand-in that does no work
}

var renewals = []renewalOf{{}, {stand: true}, {each: true}, {each: true, stand: true}}

func (m renewalOf) way() string {
	if m.each {
		return "each item"
	}
	return "transactions"
}

func (m renewalOf) endpoint() string {
	if m.stand {
		return "does no work"
	}
	return "test server"
}

func (m renewalOf) name() string { return fmt.Sprintf("Renew 1000, %s, %s", m.way(), m.endpoint()) }

// renewal measures one row: both sides with 1,000 leases, and the library also with 100, in turns.
func (b *bench) renewal(ctx context.Context, m renewalOf) (row renewalRow, err error) {
	row = renewalRow{Way: m.way(), Endpoint: m.endpoint()}
	r, err := b.lab.route(m.stand)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, r.close()) }()

	small, err := b.lab.library(ctx, r.client, renewAll(many, m.each))
	if err != nil {
		return row, err
	}
	library, err := b.lab.library(ctx, r.client, renewAll(b.leases, m.each))
	if err != nil {
		return row, err
	}
	bare, err := b.lab.bare(ctx, r.client, renewAll(b.leases, m.each))
	if err != nil {
		return row, err
	}
	if row.Requests100, err = r.requests(ctx, small); err != nil {
		return row, err
	}
	if row.Requests1000, err = r.requests(ctx, library); err != nil {
		return row, err
	}
	switch n, err := r.requests(ctx, bare); {
	case err != nil:
		return row, err
	case n != row.Requests1000:
		return row, fmt.Errorf("the library sent %d requests, the bare SDK %d", row.Requests1000, n)
	}

	t, err := takeTurns(ctx, b.rounds, 1, b.limit, small, library, bare)
	if err != nil {
		return row, err
	}
	row.Library100, row.Library1000, row.Bare1000 = t.timing(0), t.timing(1), t.timing(2)
	row.Growth, row.Ratio = t.ratio(1, 0), t.ratio(1, 2)
	return row, nil
}

// A route leads to the test server or to a stand-in, at the distance of a real store.
type route struct {
	client    *dynamodb.Client
	transport *dynamotest.Transport
	stand     *standIn // nil for the server itself
}

func (l *lab) route(stand bool) (*route, error) {
	r := &route{transport: l.server.Transport()}
	r.client = r.transport.Client(withoutRetries)
	if !stand {
		r.transport.Latency(distance)
		return r, nil
	}
	var err error
	if r.stand, err = startStandIn(l.server.Endpoint(), distance, writes); err != nil {
		r.transport.Close()
		return nil, err
	}
	r.client = r.transport.Client(withoutRetries, func(o *dynamodb.Options) { o.BaseEndpoint = &r.stand.url })
	return r, nil
}

// requests counts the requests of a call.
func (r *route) requests(ctx context.Context, side *runner) (int, error) {
	r.transport.Reset()
	_, err := side.time(ctx)
	return r.transport.Count(""), err
}

func (r *route) close() error {
	r.transport.Close()
	if r.stand == nil {
		return nil
	}
	return r.stand.close()
}

func renewAll(leases int, each bool) operation {
	return operation{
		name: fmt.Sprintf("Renew %d", leases), block: 1, each: each,
		seed: func(ctx context.Context, p party) error { return p.seedLeases(ctx, leases, p.owner) },
		call: func(ctx context.Context, s side, _ int) error { return s.renew(ctx, leases) },
	}
}
