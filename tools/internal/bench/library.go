package bench

import (
	"context"
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A side is one of the two that are compared: the library or the bare SDK. A call returns an error
// if it does less than it should, because its time would not count.
type side interface {
	// acquire acquires a partition of the party's group, or extends it. With refused it expects
	// that another owner holds it.
	acquire(ctx context.Context, partition int) error
	refused(ctx context.Context, partition int) error

	// renew extends leases on the partitions 0 to n-1.
	renew(ctx context.Context, n int) error
	release(ctx context.Context, partition int) error

	// owners reads the n leases of the group; members reads the n members of the service.
	owners(ctx context.Context, n int) error
	heartbeat(ctx context.Context, node string) error
	members(ctx context.Context, n int) error
	leave(ctx context.Context, node string) error
}

// A library is the side of a Store.
type library struct {
	party
	store *dynamolease.Store
}

func newLibrary(p party, how dynamolease.Renewal) (*library, error) {
	store, err := dynamolease.New(p.client, p.table, func(o *dynamolease.Options) { o.Renewal = how })
	if err != nil {
		return nil, err
	}
	return &library{p, store}, nil
}

func (l *library) acquire(ctx context.Context, partition int) error {
	lease, acquired, err := l.store.Acquire(ctx, l.group, partition, l.owner, ttl)
	if err == nil && !acquired {
		return fmt.Errorf("partition %d is held by %s", partition, lease.Owner)
	}
	return err
}

func (l *library) refused(ctx context.Context, partition int) error {
	_, acquired, err := l.store.Acquire(ctx, l.group, partition, l.owner, ttl)
	if err == nil && acquired {
		return fmt.Errorf("partition %d was free", partition)
	}
	return err
}

func (l *library) renew(ctx context.Context, n int) error {
	leases, err := l.store.Renew(ctx, l.group, upTo(n), l.owner, ttl)
	return complete(len(leases), n, err)
}

func (l *library) release(ctx context.Context, partition int) error {
	released, err := l.store.Release(ctx, l.group, partition, l.owner)
	if err == nil && !released {
		return fmt.Errorf("partition %d was not held", partition)
	}
	return err
}

func (l *library) owners(ctx context.Context, n int) error {
	leases, err := l.store.Owners(ctx, l.group)
	return complete(len(leases), n, err)
}

func (l *library) heartbeat(ctx context.Context, node string) error {
	_, err := l.store.Heartbeat(ctx, dynamolease.Node{Service: l.service, Name: node, Address: address, Groups: groups}, ttl)
	return err
}

func (l *library) members(ctx context.Context, n int) error {
	members, err := l.store.Members(ctx, l.service)
	return complete(len(members), n, err)
}

func (l *library) leave(ctx context.Context, node string) error {
	return l.store.Leave(ctx, l.service, node)
}

func complete(got, want int, err error) error {
	if err == nil && got != want {
		return fmt.Errorf("%d rows instead of %d", got, want)
	}
	return err
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
