package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

const checkpointEvery = 500 * time.Millisecond

// A keeperRow is what it takes to keep leases with an expiry of their own, while each is
// checkpointed twice a second.
type keeperRow struct {
	Way         string  `json:"way"`
	Leases      int     `json:"leases"`
	TTL         float64 `json:"ttl_s"`
	Seconds     float64 `json:"seconds"`
	Renewals    int     `json:"renewals"`
	Longest     float64 `json:"longest_renewal_ms"`
	Checkpoints int     `json:"checkpoints"`
	Failed      int     `json:"failed_checkpoints"`
	Lost        int     `json:"lost"`
	crowdUsage
}

// A keeper holds leases of one store.
type keeper struct {
	party
	store *dynamolease.Store
	ttl   time.Duration

	mu     sync.Mutex
	leases map[int]dynamolease.Lease // those that are left
	row    keeperRow
}

// keep renews leases and checkpoints them, for the span.
func (l *lab) keep(ctx context.Context, c crowd, how dynamolease.Renewal) (row keeperRow, err error) {
	k := &keeper{ttl: c.ttl, leases: make(map[int]dynamolease.Lease)}
	k.row = keeperRow{Way: renewalOf{each: how == dynamolease.EachItem}.way(), Leases: c.kept, TTL: c.ttl.Seconds(), Seconds: c.span.Seconds()}
	table, err := l.freshTable()
	if err != nil {
		return k.row, err
	}
	transport := c.connect()
	defer transport.Close()
	transport.Latency(distance)
	k.party = party{client: transport.Client(withoutRetries), table: table, group: "orders", owner: "worker-" + uuid.NewString()}
	k.store, err = dynamolease.New(k.client, table, c.options, func(o *dynamolease.Options) { o.Renewal = how })
	if err != nil {
		return k.row, err
	}
	defer k.store.Close()
	err = rowstore.Parallel(c.kept, 20, func(i int) error {
		lease, acquired, err := k.store.Acquire(ctx, k.group, i, k.owner, c.ttl)
		if err == nil && !acquired {
			err = fmt.Errorf("partition %d is held", i)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.leases[i] = lease
		return err
	})
	if err != nil {
		return k.row, err
	}
	l.server.Contend(table, contention)
	defer l.server.Contend(table, dynamotest.Contention{})
	err = k.run(ctx, c.span)
	k.row.crowdUsage = crowdUsageOf(l.server.Usage(table))
	return k.row, err
}

func (k *keeper) run(ctx context.Context, span time.Duration) error {
	working, end := context.WithTimeout(ctx, span)
	defer end()
	var running sync.WaitGroup
	for i := range k.row.Leases {
		running.Go(func() { k.checkpoint(working, i) })
	}
	running.Go(func() { k.renew(working) })
	running.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for partition, lease := range k.leases {
		if lease.Remaining() <= 0 {
			delete(k.leases, partition)
		}
	}
	k.row.Lost = k.row.Leases - len(k.leases)
	return ctx.Err()
}

// checkpoint leaves a checkpoint twice a second, as long as the lease is held. Leases take turns.
func (k *keeper) checkpoint(ctx context.Context, partition int) {
	if rest(ctx, time.Duration(partition)*checkpointEvery/time.Duration(k.row.Leases)) != nil {
		return
	}
	ticker := time.NewTicker(checkpointEvery)
	defer ticker.Stop()
	for n := 0; ; n++ {
		lease, ok := k.lease(partition)
		if !ok {
			return
		}
		err := k.store.Checkpoint(ctx, lease, fmt.Append(nil, n))
		if ctx.Err() != nil {
			return
		}
		k.count(err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (k *keeper) lease(partition int) (dynamolease.Lease, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lease, ok := k.leases[partition]
	return lease, ok
}

func (k *keeper) count(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.row.Failed++
	} else {
		k.row.Checkpoints++
	}
}

// renew renews all leases each third of the ttl. Those that are left out are lost.
func (k *keeper) renew(ctx context.Context) {
	for rest(ctx, k.ttl/roundsPerTTL) == nil {
		k.mu.Lock()
		var partitions []int
		for partition := range k.leases {
			partitions = append(partitions, partition)
		}
		k.mu.Unlock()
		slices.Sort(partitions)
		if len(partitions) == 0 {
			return
		}
		begun := time.Now()
		renewed, err := k.store.Renew(ctx, k.group, partitions, k.owner, k.ttl)
		k.renewed(renewed, time.Since(begun), err)
	}
}

func (k *keeper) renewed(leases []dynamolease.Lease, took time.Duration, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.row.Renewals++
	k.row.Longest = max(k.row.Longest, float64(took.Milliseconds()))
	if err == nil {
		clear(k.leases)
	}
	for _, lease := range leases {
		k.leases[lease.Partition] = lease
	}
}
