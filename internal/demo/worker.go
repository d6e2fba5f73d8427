package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	roundsPerTTL = 3
	maxFailures  = 10 // rounds in a row
)

// WorkerConfig says what a worker works on.
type WorkerConfig struct {
	Name   string // names this process, and no other of the run
	Table  string
	Input  string // a directory
	Record string // the file that it records its events in
	TTL    time.Duration
	Pace   time.Duration // the least time that a partition takes
}

// Work is one worker: it works until every partition has a result, or ctx ends. The database is the one that
// [dynamotest.Start] finds, which the parent names in DYNAMODB_ENDPOINT.
func Work(ctx context.Context, cfg WorkerConfig, logger *slog.Logger) (err error) {
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	record, err := openRecorder(cfg.Record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.close()) }()
	client := server.Client()
	store, err := dynamolease.New(client, cfg.Table, func(o *dynamolease.Options) { o.Logger = logger })
	if err != nil {
		return err
	}
	defer store.Close()
	input := os.DirFS(cfg.Input)
	files, err := goFiles(input)
	if err != nil {
		return err
	}
	w := &worker{
		name: cfg.Name, ttl: cfg.TTL, pace: cfg.Pace, logger: logger,
		store: store, results: &results{client, cfg.Table}, record: record, clock: newClock(),
		input: input, parts: split(files), hand: newHand(),
	}
	return w.run(ctx)
}

// A worker has two goroutines: one makes a round three times in a ttl or more, and is the only one that acquires, renews and
// releases; the other counts the partitions that the first one holds.
type worker struct {
	name   string
	ttl    time.Duration
	pace   time.Duration
	logger *slog.Logger

	store   *dynamolease.Store
	results *results
	record  *recorder
	clock   clock
	input   fs.FS
	parts   [Partitions][]string
	hand    *hand
}

// errAllDone ends a worker without an error.
var errAllDone = errors.New("every partition has a result")

func (w *worker) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var counting sync.WaitGroup
	counting.Go(func() { cancel(w.work(ctx)) })
	cancel(w.rounds(ctx))
	counting.Wait()
	if err := context.Cause(ctx); !errors.Is(err, errAllDone) {
		return err
	}
	return nil
}

// rounds makes rounds until one of them finds that all is done. The first one only joins: by the second all workers
// see each other, and nobody takes more than its share.
func (w *worker) rounds(ctx context.Context) error {
	failures := 0
	for first := true; ; first = false {
		err := w.round(ctx, first)
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() != nil || errors.Is(err, errAllDone):
			return err
		default:
			if failures++; failures == maxFailures {
				return fmt.Errorf("%d rounds failed, the last: %w", failures, err)
			}
			w.logger.WarnContext(ctx, "a round failed", "worker", w.name, "err", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(w.untilNext()):
		}
	}
}

// untilNext is up to a quarter shorter than the share of the ttl, so that workers do not keep step, and do not always
// ask the store at the same moment of a second: its clock shows whole seconds, so that would teach them little about it.
func (w *worker) untilNext() time.Duration {
	period := w.ttl / roundsPerTTL
	return period - rand.N(period/4)
}
