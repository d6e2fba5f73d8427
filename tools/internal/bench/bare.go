package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A bare sends the requests of the library with the SDK alone, in the plainest way: without
// retries, without bounds on the time of a request, without the store's clock, and reading no more
// of an answer than its next request needs. It is no substitute for the library, but the measure of
// it.
type bare struct {
	party
	each bool            // renews with an UpdateItem for each lease
	rows map[string]held // by sort key; changed only between requests
}

// held is what the next write of a row needs to know of it.
type held struct {
	rev   string
	epoch int64
}

func newBare(p party, each bool) *bare {
	return &bare{party: p, each: each, rows: make(map[string]held)}
}

// The conditions of writes: the row is as it was seen, and a lease that gets a ttl has no checkpoint.
const (
	seen              = "#rev IN (:seen_rev0)"
	withoutCheckpoint = " AND attribute_not_exists(#checkpoint)"
)

// A put is a conditional write of a row.
type put struct {
	update    string
	condition string
	names     map[string]string
	values    map[string]types.AttributeValue
	returns   types.ReturnValue
	row       held // after the write
}

func (b *bare) acquire(ctx context.Context, partition int) error {
	sk := partitionKey(partition)
	row, known := b.rows[sk]
	if !known {
		found, err := b.get(ctx, key("L#"+b.group, sk))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("partition %d is taken", partition)
		}
		row.epoch = time.Now().UnixMilli()
	}
	p := b.take(row)
	p.returns = types.ReturnValueAllNew
	if !known {
		p.onlyNew()
	}
	return b.put(ctx, "L#"+b.group, sk, p)
}

func (b *bare) refused(ctx context.Context, partition int) error {
	found, err := b.get(ctx, key("L#"+b.group, partitionKey(partition)))
	if err == nil && len(found) == 0 {
		return fmt.Errorf("partition %d was free", partition)
	}
	return err
}

// take returns the write that acquires or extends a lease.
func (b *bare) take(row held) put {
	now, rev := time.Now(), uuid.NewString()
	return put{
		update:    "SET #epoch = :epoch, #rev = :rev, #owner = :owner, #exp = :exp, #ttl = :ttl, #lasts = :lasts REMOVE #service, #session, #revoked",
		condition: seen + withoutCheckpoint,
		names:     leaseNames(),
		values: map[string]types.AttributeValue{
			":epoch":     number(row.epoch),
			":ttl":       number(now.Add(ttl + 24*time.Hour).Unix()),
			":rev":       text(rev),
			":owner":     text(b.owner),
			":exp":       number(now.Add(ttl).UnixMilli()),
			":lasts":     number(ttl.Milliseconds()),
			":seen_rev0": text(row.rev),
		},
		row: held{rev, row.epoch},
	}
}

func leaseNames() map[string]string {
	return map[string]string{
		"#epoch": "epoch", "#rev": "rev", "#owner": "owner", "#exp": "exp", "#ttl": "ttl", "#service": "service", "#session": "session",
		"#revoked": "revoked", "#checkpoint": "checkpoint", "#lasts": "lasts",
	}
}

// onlyNew makes the write fail if the row exists.
func (p *put) onlyNew() {
	p.condition = strings.Replace(p.condition, seen, "attribute_not_exists(#pk)", 1)
	p.names["#pk"] = "pk"
	delete(p.values, ":seen_rev0")
}

func (b *bare) release(ctx context.Context, partition int) error {
	sk := partitionKey(partition)
	row, rev := b.rows[sk], uuid.NewString()
	return b.put(ctx, "L#"+b.group, sk, put{
		update:    "SET #epoch = :epoch, #rev = :rev, #ttl = :ttl REMOVE #owner, #exp, #service, #session, #revoked, #lasts",
		condition: seen + withoutCheckpoint,
		names:     leaseNames(),
		values: map[string]types.AttributeValue{
			":epoch":     number(row.epoch),
			":ttl":       number(time.Now().Add(24 * time.Hour).Unix()),
			":rev":       text(rev),
			":seen_rev0": text(row.rev),
		},
		row: held{rev, row.epoch},
	})
}

func (b *bare) renew(ctx context.Context, n int) error {
	if len(b.rows) < n {
		if err := b.learn(ctx); err != nil {
			return err
		}
	}
	puts := make([]put, n)
	var err error
	if b.each {
		err = rowstore.Parallel(n, 32, func(i int) error {
			puts[i] = b.take(b.rows[partitionKey(i)])
			return b.updateItem(ctx, "L#"+b.group, partitionKey(i), puts[i])
		})
	} else {
		err = rowstore.Parallel((n+99)/100, 16, func(i int) error {
			return b.transact(ctx, 100*i, puts[100*i:min(100*(i+1), n)])
		})
	}
	if err != nil {
		return err
	}
	for i, p := range puts {
		b.rows[partitionKey(i)] = p.row
	}
	return nil
}

// transact renews the partitions from first on with one transaction, whose writes it leaves in
// puts.
func (b *bare) transact(ctx context.Context, first int, puts []put) error {
	actions := make([]types.TransactWriteItem, len(puts))
	for i := range puts {
		sk := partitionKey(first + i)
		p := b.take(b.rows[sk])
		puts[i] = p
		actions[i].Update = &types.Update{
			TableName:                           aws.String(b.table),
			Key:                                 key("L#"+b.group, sk),
			UpdateExpression:                    aws.String(p.update),
			ConditionExpression:                 aws.String(p.condition),
			ExpressionAttributeNames:            p.names,
			ExpressionAttributeValues:           p.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
	}
	_, err := b.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	return err
}

// learn reads the rows of the group.
func (b *bare) learn(ctx context.Context) error {
	found, err := b.query(ctx, "L#"+b.group)
	if err != nil {
		return err
	}
	for _, row := range found {
		epoch, err := strconv.ParseInt(row["epoch"].(*types.AttributeValueMemberN).Value, 10, 64)
		if err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		b.rows[row["sk"].(*types.AttributeValueMemberS).Value] = held{row["rev"].(*types.AttributeValueMemberS).Value, epoch}
	}
	return nil
}

func (b *bare) owners(ctx context.Context, n int) error {
	found, err := b.between(ctx, "L#"+b.group, "P", "P\U0010FFFF")
	return complete(len(found), n, err)
}

func (b *bare) members(ctx context.Context, n int) error {
	found, err := b.query(ctx, "M#"+b.service)
	return complete(len(found), n, err)
}

func (b *bare) heartbeat(ctx context.Context, node string) error {
	sk := "N#" + node
	row, known := b.rows[sk]
	now, rev := time.Now(), uuid.NewString()
	p := put{
		update:    "SET #node = :node, #address = :address, #exp = :exp, #ttl = :ttl, #rev = :rev, #groups = :groups REMOVE #left, #revoked, #signals, #takes",
		condition: seen,
		names:     memberNames(),
		values: map[string]types.AttributeValue{
			":node":      text(node),
			":address":   text(address),
			":exp":       number(now.Add(ttl).UnixMilli()),
			":ttl":       number(now.Add(ttl + 24*time.Hour).Unix()),
			":rev":       text(rev),
			":groups":    texts(groups),
			":seen_rev0": text(row.rev),
		},
		row: held{rev: rev},
	}
	if !known {
		p.onlyNew()
	}
	return b.put(ctx, "M#"+b.service, sk, p)
}

// leave first looks for sessions of the node, as the library does, and marks its row.
func (b *bare) leave(ctx context.Context, node string) error {
	sk := "N#" + node
	if _, err := b.between(ctx, "M#"+b.service, sk, sk+"#\U0010FFFF"); err != nil {
		return err
	}
	now, rev := time.Now(), uuid.NewString()
	return b.put(ctx, "M#"+b.service, sk, put{
		update:    "SET #node = :node, #address = :address, #exp = :exp, #ttl = :ttl, #rev = :rev, #left = :left REMOVE #groups, #revoked, #signals, #takes",
		condition: seen,
		names:     memberNames(),
		values: map[string]types.AttributeValue{
			":node":      text(node),
			":address":   text("-"),
			":exp":       number(1),
			":ttl":       number(now.Add(24 * time.Hour).Unix()),
			":rev":       text(rev),
			":left":      number(now.UnixMilli()),
			":seen_rev0": text(b.rows[sk].rev),
		},
		row: held{rev: rev},
	})
}

func memberNames() map[string]string {
	return map[string]string{
		"#node": "node", "#address": "address", "#exp": "exp", "#ttl": "ttl", "#rev": "rev", "#groups": "groups", "#left": "left", "#revoked": "revoked", "#signals": "signals", "#takes": "takes",
	}
}
