package history

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// settled is the age from which on a row is deleted by hand. By then no request is on its way any
// more that found no row: such a request could make the row again as it once was.
const settled = 2 * latest

// A loss is a row of a lease or of a session that somebody deleted by hand. Its holder cannot know,
// and may believe in it until its own time is over.
type loss struct {
	key   rowKey
	epoch int64 // of the lease; 0 for a session
}

// vandalise deletes rows of leases and sessions by hand, now and then.
func (w *world) vandalise(ctx context.Context, dice *rand.Rand) {
	client := w.quietPath().client()
	for pause(ctx, time.Duration(1+dice.Int64N(int64(20*time.Second)))) {
		keys := w.db.old(time.Now().Add(-settled))
		if len(keys) == 0 {
			continue
		}
		k := keys[dice.IntN(len(keys))]
		r := w.db.row(k)
		w.note(loss{k, r.number("epoch")})
		c := w.begin(&call{what: deleteByHand, node: -1})
		_, c.err = client.DeleteItem(context.WithValue(ctx, callKey{}, c), &dynamodb.DeleteItemInput{
			TableName: &w.db.table, Key: keyOf(k), ConditionExpression: aws.String("#rev = :seen"),
			ExpressionAttributeNames:  map[string]string{"#rev": "rev"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":seen": &types.AttributeValueMemberS{Value: r.text("rev")}},
		})
		c.yes = c.err == nil
		w.end(c)
	}
}

// old returns the rows of leases and sessions that were made before a time, in order.
func (d *database) old(before time.Time) []rowKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []rowKey
	for k, r := range d.rows {
		lease, session := strings.HasPrefix(k.pk, "L#") && r["epoch"].N != nil, k.pk == "M#"+service && r.text("session") != ""
		if lease && d.made[k].Before(before) || session && d.made[k].Before(before) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b rowKey) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

func (w *world) note(l loss) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses[l] = true
}

// robbed reports whether somebody deleted the row of a belief, or that of its session. The caller
// has the mutex.
func (w *world) robbed(b *belief) bool {
	return w.losses[loss{leaseRowKey(group, b.lease.Partition), b.lease.Epoch}] || w.losses[loss{sessionRowKey(b.lease.Session), 0}]
}
