package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A crashRow is what it takes to take over the leases of one node.
type crashRow struct {
	Leases int     `json:"leases"` // of the node that crashed
	Takers int     `json:"takers"`
	TTL    float64 `json:"ttl_s"`
	Median float64 `json:"median_s"` // until half of them were worked again
	Last   float64 `json:"last_s"`
	Target float64 `json:"target_s"`
	crowdUsage
}

// crash lets one node take all partitions, starts others, crashes the first, and waits until the
// others work all.
func (l *lab) crash(ctx context.Context, c crowd) (row crashRow, err error) {
	t := l.troupe(c.drill)
	if t.table, err = l.freshTable(); err != nil {
		return row, err
	}
	defer func() {
		l.server.Contend(t.table, dynamotest.Contention{})
		err = errors.Join(err, t.close())
	}()
	if err := t.enter(ctx, "a"); err != nil {
		return row, err
	}
	if _, err := t.await(ctx, t.partitions, "a"); err != nil {
		return row, fmt.Errorf("wait for the first node: %w", err)
	}
	var takers []string
	for i := range c.takers {
		takers = append(takers, fmt.Sprint("taker-", i))
		if err := t.enter(ctx, takers[i]); err != nil {
			return row, err
		}
	}
	if err := rest(ctx, 2*t.round()+time.Second); err != nil {
		return row, err
	}
	l.server.Contend(t.table, contention)
	begun := time.Now()
	held := t.of("a")
	t.actors["a"].crash()
	if err := t.awaitAll(ctx, t.partitions, takers...); err != nil {
		return row, fmt.Errorf("after the crash: %w", err)
	}
	used := l.server.Usage(t.table)
	since := t.since(held, begun)
	return crashRow{
		Leases: len(held), Takers: c.takers, TTL: t.ttl.Seconds(), Target: crashTarget*t.ttl.Seconds() + t.round().Seconds(),
		Median: median(since), Last: slices.Max(since), crowdUsage: crowdUsageOf(used),
	}, nil
}

// rest waits for d.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
