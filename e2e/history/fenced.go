package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A position says how far the work of a partition has got. A lease without a checkpoint begins a
// new line of work.
type position struct {
	line int64 // the epoch that began it
	done int   // items
}

func positionOf(lease dynamolease.Lease) position {
	line, done, ok := strings.Cut(string(lease.Checkpoint), ":")
	if !ok {
		return position{line: lease.Epoch}
	}
	var at position
	at.line, _ = strconv.ParseInt(line, 10, 64)
	at.done, _ = strconv.Atoi(strings.TrimSuffix(done, "+"))
	return at
}

func (p position) bytes() []byte { return fmt.Appendf(nil, "%d:%d", p.line, p.done) }

// transact does the next item of work under a lease that the node has or had, and advances the
// checkpoint. The items are increments, so that a second write shows.
func (n *node) transact(p plan) {
	h := n.holding(p.partition)
	if p.coin > 88 { // as if the node had not noticed the end of its former lease
		h = n.former(p.partition)
	}
	switch {
	case h == nil:
		n.acquire(p)
		return
	case h.uncertain:
		n.resume(p)
		return
	}
	life, store, _ := n.process()
	lease := n.leaseOf(h)
	at := positionOf(lease)
	at.done++
	c := &call{what: transact, partitions: []int{lease.Partition}, under: lease, data: at.bytes(), session: lease.Session}
	sk := fmt.Sprintf("%d#%010d", at.line, at.done)
	if p.coin < 10 { // work that is not idempotent and writes no checkpoint
		c.data, sk = nil, "count"
	}
	items := []types.TransactWriteItem{n.increment(lease, sk)}
	if p.coin > 93 {
		items = append(items, n.impossible())
	}
	n.do(c, life, p.patience, func(ctx context.Context) {
		c.err = store.Transact(ctx, lease, c.data, items...)
		c.yes = c.err == nil
	})
	n.worked(h, c)
}

// checkpoint writes the position again, with a mark, and does no work.
func (n *node) checkpoint(p plan) {
	h := n.holding(p.partition)
	if h == nil || h.uncertain {
		n.transact(p)
		return
	}
	life, store, _ := n.process()
	lease := n.leaseOf(h)
	c := &call{
		what: checkpoint, partitions: []int{lease.Partition}, under: lease, session: lease.Session,
		data: append(positionOf(lease).bytes(), '+'),
	}
	n.do(c, life, p.patience, func(ctx context.Context) {
		c.err = store.Checkpoint(ctx, lease, c.data)
		c.yes = c.err == nil
	})
	n.worked(h, c)
}

// worked notes the outcome of fenced work.
func (n *node) worked(h *holding, c *call) {
	var fenced *dynamolease.FencedError
	var cancelled *types.TransactionCanceledException
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case c.yes:
		if c.data != nil {
			h.lease.Checkpoint = c.data
		}
	case errors.As(c.err, &fenced) && !c.unknown():
		if n.leases[c.under.Partition] == h {
			delete(n.leases, c.under.Partition)
		}
	case errors.As(c.err, &cancelled) && !c.unknown():
	default:
		h.uncertain = true
	}
}

// resume finds out the outcome of the latest work under a lease.
func (n *node) resume(p plan) {
	h := n.holding(p.partition)
	if h == nil {
		n.acquire(p)
		return
	}
	life, store, _ := n.process()
	lease := n.leaseOf(h)
	c := &call{what: resume, partitions: []int{lease.Partition}, under: lease, session: lease.Session}
	n.do(c, life, p.patience, func(ctx context.Context) {
		var resumed dynamolease.Lease
		if resumed, c.err = store.Resume(ctx, lease); c.err == nil {
			c.yes, c.leases[lease.Partition] = true, resumed
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case c.yes:
		h.lease, h.uncertain = c.leases[lease.Partition], false
	case c.fenced() != nil && n.leases[lease.Partition] == h:
		delete(n.leases, lease.Partition)
	}
}

func (n *node) leaseOf(h *holding) dynamolease.Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	return h.lease
}

// increment returns a write that counts in a row of the work, and stores the epoch of its writer.
func (n *node) increment(lease dynamolease.Lease, sk string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &n.w.db.table, Key: keyOf(rowKey{fmt.Sprint("W#", lease.Partition), sk}),
		UpdateExpression:         aws.String("ADD #times :one SET #epoch = :epoch"),
		ExpressionAttributeNames: map[string]string{"#times": "times", "#epoch": "epoch"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one": &types.AttributeValueMemberN{Value: "1"}, ":epoch": &types.AttributeValueMemberN{Value: strconv.FormatInt(lease.Epoch, 10)},
		},
	}}
}

// impossible returns a condition that never holds.
func (n *node) impossible() types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &n.w.db.table, Key: keyOf(rowKey{"W#none", "none"}), ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
}

func keyOf(k rowKey) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: k.pk}, "sk": &types.AttributeValueMemberS{Value: k.sk},
	}
}
