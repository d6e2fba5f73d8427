package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// fleetNodes is on how many nodes the leases of a fleet are.
const fleetNodes = 10

// A way is how a fleet keeps its leases: it makes the rows that it needs, and a round of each node.
type way struct {
	name     string
	answered []string // what an endpoint that does no work may answer, without any harm
	inTurn   bool     // one node after the other
	learns   bool     // from its first round, which does not count
	begin    func(context.Context, *fleet) ([]round, error)
}

// A round is what one node does, a third of a ttl after the last.
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

// store is that of one node.
func (f *fleet) store(how dynamolease.Renewal) (*dynamolease.Store, error) {
	s, err := dynamolease.New(f.client, f.table, func(o *dynamolease.Options) {
		o.Renewal = how
		o.OnRequest = f.meter.request
		o.RequestTimeout = time.Minute // a busy server is no reason to send anything twice
	})
	if err == nil {
		f.stores = append(f.stores, s)
	}
	return s, err
}

// eachNode makes the rounds of all nodes from the partitions of each.
func (f *fleet) eachNode(make func(partitions []int) round) []round {
	var rounds []round
	for node := range fleetNodes {
		rounds = append(rounds, make(f.share(node)))
	}
	return rounds
}

// share is the partitions of a node, ownerOf the other way round.
func (f *fleet) share(node int) []int {
	return upTo(f.leases)[node*f.leases/fleetNodes : (node+1)*f.leases/fleetNodes]
}

func (f *fleet) ownerOf(partition int) string {
	return nodeName(((partition+1)*fleetNodes - 1) / f.leases)
}

// inSessions is what a node of package coordinator does in each round of a quiet fleet: it extends its session, reads the
// members, and now and then the owners.
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

// sessionLease is the row of a lease as it is acquired in a session.
func (f *fleet) sessionLease(partition int, session *dynamolease.Session) map[string]types.AttributeValue {
	row := key("L#"+f.group, partitionKey(partition))
	row["epoch"] = number(time.Now().UnixMilli())
	row["rev"] = text(uuid.NewString())
	row["owner"] = text(session.Node())
	row["service"] = text(f.service)
	row["session"] = text(session.ID())
	return row
}

// perLease is how a Store renews leases that have an expiry of their own.
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
