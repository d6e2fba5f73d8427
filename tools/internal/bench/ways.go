package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// fleetNodes is the number of nodes of a fleet.
const fleetNodes = 10

// A way of keeping a fleet's leases makes the rows that it needs, and a round for each node.
type way struct {
	name     string
	answered []string // operations that an endpoint without any work may answer
	inTurn   bool     // one node after the other
	learns   bool     // in its first round, which does not count
	begin    func(context.Context, *fleet) ([]round, error)
}

// A round is one node's work in a third of a ttl.
type round func(context.Context) error

// The names of the ways that sessions are reported by. In a resync a coordinator reads the owners.
const (
	quietRound  = "sessions, a quiet round"
	resyncRound = "sessions, a resync"
	sessionMean = "sessions, mean"
)

var ways = []way{
	{quietRound, writes, false, true, func(ctx context.Context, f *fleet) ([]round, error) { return inSessions(ctx, f, false) }},
	{resyncRound, writes, true, true, func(ctx context.Context, f *fleet) ([]round, error) { return inSessions(ctx, f, true) }},
	{"transactions", writes, false, true, func(ctx context.Context, f *fleet) ([]round, error) {
		return perLease(ctx, f, dynamolease.Transactions)
	}},
	{"each item", writes, false, true, func(ctx context.Context, f *fleet) ([]round, error) { return perLease(ctx, f, dynamolease.EachItem) }},
	{"bare: UpdateItem each, 20 in flight", writes, false, false, updateEach},
	{"bare: GetItem and PutItem each, serial", []string{"GetItem", "PutItem"}, false, false, getAndPutEach},
}

// A fleet is nodes that share leases evenly.
type fleet struct {
	party
	leases int
	meter  meter
	stores []*dynamolease.Store
}

func (f *fleet) close() {
	for _, s := range f.stores {
		s.Close()
	}
}

// store returns the store of one node.
func (f *fleet) store(how dynamolease.Renewal) (*dynamolease.Store, error) {
	s, err := dynamolease.New(f.client, f.table, func(o *dynamolease.Options) {
		o.Renewal = how
		o.OnRequest = f.meter.request
		o.RequestTimeout = time.Minute // does not send twice to a busy server
	})
	if err == nil {
		f.stores = append(f.stores, s)
	}
	return s, err
}

// eachNode makes the rounds of all nodes from their partitions.
func (f *fleet) eachNode(make func(partitions []int) round) []round {
	var rounds []round
	for node := range fleetNodes {
		rounds = append(rounds, make(f.share(node)))
	}
	return rounds
}

// share returns the partitions of a node, and ownerOf the node of a partition.
func (f *fleet) share(node int) []int {
	return upTo(f.leases)[node*f.leases/fleetNodes : (node+1)*f.leases/fleetNodes]
}

func (f *fleet) ownerOf(partition int) string {
	return nodeName(((partition+1)*fleetNodes - 1) / f.leases)
}

// inSessions makes the rounds of package coordinator in a quiet fleet: it extends a session, reads
// the members, and now and then the owners.
func inSessions(ctx context.Context, f *fleet, owners bool) ([]round, error) {
	var rounds []round
	var rows []map[string]types.AttributeValue
	for node := range fleetNodes {
		store, err := f.store(dynamolease.Transactions)
		if err != nil {
			return nil, err
		}
		session, err := store.OpenSession(ctx, dynamolease.Node{Service: f.service, Name: nodeName(node), Address: address, Groups: groups}, ttl)
		if err != nil {
			return nil, err
		}
		for _, partition := range f.share(node) {
			rows = append(rows, f.sessionLease(partition, session))
		}
		rounds = append(rounds, func(ctx context.Context) error {
			if _, err := session.Heartbeat(ctx); err != nil {
				return err
			}
			members, err := store.Members(ctx, f.service)
			if err := complete(len(members), fleetNodes, err); err != nil || !owners {
				return err
			}
			leases, err := store.Owners(ctx, f.group)
			return complete(len(leases), f.leases, err)
		})
	}
	return rounds, f.seed(ctx, rows)
}

// sessionLease returns the row of a lease that was acquired in a session.
func (f *fleet) sessionLease(partition int, session *dynamolease.Session) map[string]types.AttributeValue {
	row := key("L#"+f.group, partitionKey(partition))
	row["epoch"] = number(time.Now().UnixMilli())
	row["rev"] = text(uuid.NewString())
	row["owner"] = text(session.Node())
	row["service"] = text(f.service)
	row["session"] = text(session.ID())
	return row
}

// perLease renews leases with an expiry of their own, as a Store does.
func perLease(ctx context.Context, f *fleet, how dynamolease.Renewal) ([]round, error) {
	var rounds []round
	for node := range fleetNodes {
		store, err := f.store(how)
		if err != nil {
			return nil, err
		}
		partitions := f.share(node)
		rounds = append(rounds, func(ctx context.Context) error {
			leases, err := store.Renew(ctx, f.group, partitions, f.owner, ttl)
			return complete(len(leases), len(partitions), err)
		})
	}
	if err := f.seedLeases(ctx, f.leases, f.owner); err != nil {
		return nil, fmt.Errorf("make leases: %w", err)
	}
	return rounds, nil
}
