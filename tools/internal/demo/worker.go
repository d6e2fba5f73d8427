package demo

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// The names in the store.
const (
	service = "demo" // of the members
	group   = "demo" // of the leases
)

// WorkerConfig configures a worker.
type WorkerConfig struct {
	Name   string // unique among the processes of a run
	Table  string
	Input  string // a directory
	Record string // the file for its events
	TTL    time.Duration
	Pace   time.Duration // the least time for a file
}

// Work is one worker. It counts its partitions until ctx ends, on the database that
// [dynamotest.Start] finds: the parent names it in DYNAMODB_ENDPOINT.
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
		name: cfg.Name, pace: cfg.Pace, store: store, results: &results{client, cfg.Table},
		record: record, clock: newClock(), input: input, parts: split(files),
	}
	return w.run(ctx, cfg.TTL, logger)
}

// A worker is a node of the service.
type worker struct {
	name    string
	pace    time.Duration
	store   *dynamolease.Store
	results *results
	record  *recorder
	clock   clock
	input   fs.FS
	parts   [Partitions][]string
	fail    context.CancelCauseFunc // ends the worker
}

// errHandler ends a worker early.
var errHandler = errors.New("a handler failed")

func (w *worker) run(ctx context.Context, ttl time.Duration, logger *slog.Logger) error {
	ctx, w.fail = context.WithCancelCause(ctx)
	defer w.fail(nil)
	err := coordinator.Run(ctx, w.store, coordinator.Config{
		Service: service, Node: w.name, Address: w.name, TTL: ttl,
		Groups: []coordinator.Group{{Name: group, Partitions: Partitions, Handler: w.handle}},
		Logger: logger,
	})
	if cause := context.Cause(ctx); errors.Is(cause, errHandler) {
		err = errors.Join(cause, err)
	}
	return err
}
