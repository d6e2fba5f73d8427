package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// heartbeat makes the node a member without a session.
func (n *node) heartbeat(p plan) {
	life, store, _ := n.process()
	c := &call{what: heartbeat, ttl: p.ttl}
	n.do(c, life, p.patience, func(ctx context.Context) {
		var member dynamolease.Member
		if member, c.err = store.Heartbeat(ctx, dynamolease.Node{Service: service, Name: n.name, Address: address(p), Groups: []string{group}}, p.ttl); c.err == nil {
			c.yes, c.members = true, []dynamolease.Member{member}
		}
	})
}

// leave removes a node from the members: itself or another.
func (n *node) leave(p plan) {
	life, store, _ := n.process()
	name := n.name
	if p.coin < 30 {
		name = fmt.Sprint("n", p.partition)
	}
	c := &call{what: leaveService, owner: name}
	n.do(c, life, p.patience, func(ctx context.Context) {
		c.err = store.Leave(ctx, service, name)
		c.yes = c.err == nil
	})
}

func (n *node) members(p plan) {
	life, store, _ := n.process()
	c := &call{what: members}
	n.do(c, life, p.patience, func(ctx context.Context) {
		c.members, c.err = store.Members(ctx, service)
		c.yes = c.err == nil
	})
}

// reap calls Reap.
func (n *node) reap(p plan) {
	life, store, _ := n.process()
	c := &call{what: reap}
	n.do(c, life, p.patience, func(ctx context.Context) {
		_, c.err = store.Reap(ctx, dynamolease.ReapConfig{Segments: 1 + p.partition})
		c.yes = c.err == nil
	})
}

// deleteDue deletes a row if its ttl has passed, and reports whether it did.
func deleteDue(ctx context.Context, client *dynamodb.Client, table string, k rowKey) (bool, error) {
	_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &table, Key: keyOf(k), ConditionExpression: aws.String("#ttl < :now"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Unix(), 10)},
		},
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return false, nil
	}
	return err == nil, err
}
