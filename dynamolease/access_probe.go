package dynamolease

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A probe is a request that changes nothing, and is allowed if another one, which a program makes
// later, is allowed.
type probe struct {
	action   string // that has to be granted, without the service
	inside   bool   // a transaction has to be allowed to do it
	pk       string // of the rows; empty for all of them
	purposes []string
	send     rowstore.Send
}

// what says what the request does.
func (p probe) what() string {
	text := p.action
	if p.inside {
		text += " in a TransactWriteItems"
	}
	if p.pk != "" {
		text += " rows of " + p.pk
	}
	return text
}

// where says on which rows the action has to be granted.
func (p probe) where() string {
	if p.pk == "" {
		return " on the table"
	}
	return " on the partition key " + p.pk
}

// A prober makes probes, each once, whatever number of purposes it has.
type prober struct {
	rows *rowstore.Table
	scan func(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	drop func(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	list []probe
}

// probes returns the probes of an access.
func (s *Store) probes(a Access) []probe {
	p := &prober{rows: s.rows, scan: s.client.Scan, drop: s.client.DeleteItem}
	for _, service := range a.Services {
		p.query(memberPrefix+service, "to read the members")
		p.update(memberPrefix+service, "to join, with heartbeats and sessions")
	}
	for _, group := range a.Groups {
		p.get(leasePrefix+group, "to acquire leases")
		p.query(leasePrefix+group, "to read the owners")
		p.update(leasePrefix+group, "to acquire, renew and release leases, and for fenced work")
		if a.LeaseChecks {
			p.check(leasePrefix+group, "for Lease.Check")
		}
	}
	for _, service := range a.Takeovers {
		p.get(memberPrefix+service, "to look at the sessions that hold leases, before a takeover")
		p.query(memberPrefix+service, "to look at the sessions that hold leases")
		p.update(memberPrefix+service, "to mark sessions that died as over, in a takeover")
	}
	if len(a.Groups) > 0 { // one group stands for all: their keys are proved already
		if a.Renew && s.renewal == Transactions {
			p.transact(leasePrefix+a.Groups[0], "to renew leases (set Options.Renewal to EachItem to do without)")
		}
		if a.Transactions {
			p.transact(leasePrefix+a.Groups[0], "for AcquireAll, and Transact with items")
		}
	}
	for _, node := range a.Nodes {
		p.get(processPrefix+node, "to read the node's process lease")
		p.update(processPrefix+node, "to acquire and renew the node's process lease")
		p.transact(processPrefix+node, "to take the node's process lease over")
	}
	if a.Reap {
		p.reap()
	}
	return p.list
}

func (p *prober) reap() {
	p.scanAll("to find dead rows")
	for _, prefix := range []string{leasePrefix, memberPrefix, processPrefix} {
		p.delete(prefix+noKey, "to delete dead rows")
	}
	p.get(memberPrefix+noKey, "to look at the sessions that hold leases, in Reap")
	p.update(leasePrefix+noKey, "to free the leases of sessions that are over, in Reap")
	p.get(positionKey.PK, "to go on where an earlier Reap has stopped")
	p.update(positionKey.PK, "to note where a Reap has stopped")
}

// noKey begins the sort keys of rows that are never there, and is a rev that no row has: a request
// for it finds nothing, and a condition on it does not hold.
const noKey = "-"

// noRow returns the key of a row that is not there. Each is another one: probes of many nodes that
// start together are not in conflict.
func noRow(pk string) rowstore.Key { return rowstore.Key{PK: pk, SK: noKey + uuid.NewString()} }

var (
	noRev    = rowstore.Condition{Revs: []string{noKey}}
	noChange = []rowstore.Attribute{{Name: rowstore.AttrRev, Value: rowstore.Text(noKey)}}
)

// add adds a probe, or another purpose to one that is there.
func (p *prober) add(next probe, purpose string) {
	for i, is := range p.list {
		if is.action == next.action && is.inside == next.inside && is.pk == next.pk {
			p.list[i].purposes = append(is.purposes, purpose)
			return
		}
	}
	next.purposes = []string{purpose}
	p.list = append(p.list, next)
}

func (p *prober) get(pk, purpose string) {
	p.add(probe{action: "GetItem", pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := p.rows.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.rows.Name, Key: noRow(pk).Item()}, opt)
		return err
	}}, purpose)
}

func (p *prober) query(pk, purpose string) {
	nothing := rowstore.Range{PK: pk, First: noKey, Last: noKey, Eventual: true}
	p.add(probe{action: "Query", pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := p.rows.Querier.Query(ctx, nothing.Input(p.rows.Name), opt)
		return err
	}}, purpose)
}

func (p *prober) update(pk, purpose string) {
	p.add(probe{action: "UpdateItem", pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		return p.rows.Write(p.rows.Update(noRow(pk), noRev, noChange))(ctx, opt)
	}}, purpose)
}

func (p *prober) transact(pk, purpose string) {
	p.add(probe{action: "UpdateItem", inside: true, pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		return p.rows.Transact([]types.TransactWriteItem{{Update: p.rows.Update(noRow(pk), noRev, noChange)}})(ctx, opt)
	}}, purpose)
}

func (p *prober) check(pk, purpose string) {
	p.add(probe{action: "ConditionCheckItem", pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		return p.rows.Transact([]types.TransactWriteItem{{ConditionCheck: rowstore.Check(p.rows.Name, noRow(pk), noRev)}})(ctx, opt)
	}}, purpose)
}

func (p *prober) delete(pk, purpose string) {
	p.add(probe{action: "DeleteItem", pk: pk, send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		d := p.rows.Delete(noRow(pk), noRev)
		_, err := p.drop(ctx, &dynamodb.DeleteItemInput{
			TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression,
			ExpressionAttributeNames: d.ExpressionAttributeNames, ExpressionAttributeValues: d.ExpressionAttributeValues,
		}, opt)
		return err
	}}, purpose)
}

func (p *prober) scanAll(purpose string) {
	p.add(probe{action: "Scan", send: func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := p.scan(ctx, &dynamodb.ScanInput{TableName: &p.rows.Name, Limit: aws.Int32(1)}, opt)
		return err
	}}, purpose)
}
