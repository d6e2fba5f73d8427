//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// The workers share these settings.
const (
	service    = "chaos"
	group      = "chaos"
	partitions = 12
	leaseTTL   = 2 * time.Second
	drain      = leaseTTL
)

// A task describes a process. The process gets it in its environment, as JSON.
type task struct {
	Boot     bool   // the process fights for the node identity; otherwise it is a worker
	Node     string // the name of a worker
	Process  string // the name of this start of the node
	Table    string
	Endpoint string // the address of its proxy
	Record   string // the file of its record
}

func (t task) client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://" + t.Endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "chaos", SecretAccessKey: "chaos"}, nil
		}),
	})
}

// A worker is a node that works partitions.
type worker struct {
	task
	store  *dynamolease.Store
	record *recorder
}

// work runs a worker until ctx ends.
func work(ctx context.Context, t task, record *recorder) error {
	store, err := dynamolease.New(t.client(), t.Table, func(o *dynamolease.Options) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Clock.Slack = 100 * time.Millisecond // the dates of this server are exact
	})
	if err != nil {
		return err
	}
	defer store.Close()
	w := &worker{t, store, record}
	return coordinator.Run(ctx, store, coordinator.Config{
		Service: service, Node: t.Node, Address: t.Process, TTL: leaseTTL, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: group, Partitions: partitions, Handler: w.handle, DrainTimeout: drain}},
	})
}

// handle writes one item after the other, from the number in the checkpoint.
func (w *worker) handle(ctx context.Context, lease coordinator.Assignment) error {
	next := 0
	if len(lease.Checkpoint) > 0 {
		var err error
		if next, err = strconv.Atoi(string(lease.Checkpoint)); err != nil {
			return fmt.Errorf("decode the checkpoint: %w", err)
		}
	}
	note := func(kind string) error {
		return w.record.note(kind, lease.Partition, lease.Epoch, next, lease.Remaining)
	}
	if err := note(begin); err != nil {
		return err
	}
	finish, cancel := patient(ctx)
	defer cancel()
	for ctx.Err() == nil {
		if err := note(believe); err != nil {
			return err
		}
		err := w.store.Transact(finish, lease.Lease, strconv.AppendInt(nil, int64(next+1), 10), w.item(lease, next))
		if noteErr := note(outcome(err)); err != nil || noteErr != nil {
			return errors.Join(err, noteErr, note(end))
		}
		next++
		rest(ctx, 60*time.Millisecond+rand.N(100*time.Millisecond))
	}
	// Sometimes work takes a while to finish. This worker owns the partition until then.
	for linger := rand.N(8); linger > 4 && finish.Err() == nil; linger-- {
		if err := note(believe); err != nil {
			return err
		}
		rest(finish, drain/8)
	}
	return note(end)
}

// patient returns a context that ends some time after ctx, so that the worker can finish its work.
// It ends before the drain timeout: the partition moves while its handler runs only if the process
// hangs.
func patient(ctx context.Context) (context.Context, func()) {
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		rest(finish, drain/2)
		cancel()
	})
	return finish, func() {
		stop()
		cancel()
	}
}

func outcome(err error) string {
	var fenced *dynamolease.FencedError
	switch {
	case err == nil:
		return wrote
	case errors.Is(err, dynamolease.ErrUnknownOutcome), errors.Is(err, dynamolease.ErrEarlierApplied):
		return unknown
	case errors.As(err, &fenced):
		return refused
	default:
		return unknown // the store did not write the item; the worker tries again
	}
}

// item returns the write of one item. It counts its writes, so that a second one shows.
func (w *worker) item(lease coordinator.Assignment, n int) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                &w.Table,
		Key:                      map[string]types.AttributeValue{"pk": text(itemsKey(lease.Partition)), "sk": text(fmt.Sprintf("I#%010d", n))},
		UpdateExpression:         aws.String("ADD times :one SET epoch = :epoch, #process = :process"),
		ExpressionAttributeNames: map[string]string{"#process": "process"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one": number(1), ":epoch": number(lease.Epoch), ":process": text(w.Process),
		},
	}}
}

func itemsKey(partition int) string { return fmt.Sprintf("W#%d", partition) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
