package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Workers is the number of worker processes of a run.
const Workers = 4

const cleanupTimeout = 10 * time.Second

// Config configures a run.
type Config struct {
	Input   string        // the directory with the .go files to count
	TTL     time.Duration // of the leases
	Pace    time.Duration // the least time of a worker for a file
	Timeout time.Duration // of the whole run

	// Command returns the program and the arguments of a process that calls Work.
	Command func(WorkerConfig) ([]string, error)

	Out    io.Writer
	Style  Style
	Logger *slog.Logger
}

// Run runs the demo and leaves no process, table or file behind, however it ends. It only keeps the
// workers' records if the verdict is not OK.
func Run(ctx context.Context, cfg Config) (v Verdict, err error) {
	if err := supported(); err != nil {
		return v, err
	}
	sizes, err := checkInput(cfg.Input)
	if err != nil {
		return v, err
	}
	defer keepThread()()
	late := fmt.Errorf("the demo did not end within %v, as --timeout says", cfg.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, late)
	defer cancel()
	records, err := os.MkdirTemp("", "dynamolease-demo-")
	if err != nil {
		return v, fmt.Errorf("make a directory for the records: %w", err)
	}
	defer func() {
		if err == nil && !v.OK() {
			v.problem("the records of the workers are in %s", records)
			return
		}
		err = errors.Join(err, os.RemoveAll(records))
	}()
	r := &run{cfg: cfg, sizes: sizes, records: records, clock: newClock(), chaos: chaos{ttl: cfg.TTL}}
	v, err = r.withTable(ctx)
	if err != nil && errors.Is(context.Cause(ctx), late) && !errors.Is(err, late) {
		err = fmt.Errorf("%w: %w", late, err)
	}
	return v, err
}

// withTable runs the demo with a database and a table of its own.
func (r *run) withTable(ctx context.Context) (v Verdict, err error) {
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	r.endpoint = server.Endpoint()
	r.results = &results{server.Client(), "dynamolease-demo-" + strings.ToLower(rand.Text())}
	r.store, err = dynamolease.New(r.results.client, r.results.table, func(o *dynamolease.Options) { o.Logger = r.cfg.Logger })
	if err != nil {
		return v, err
	}
	defer r.store.Close()
	defer func() { err = errors.Join(err, r.deleteTable(ctx)) }()
	if err := r.store.CreateTable(ctx); err != nil {
		return v, err
	}
	if err := r.invite(); err != nil {
		return v, err
	}
	return r.run(ctx)
}

// invite tells the user how to look at the run from outside.
func (r *run) invite() error {
	flags := "--table " + r.results.table
	if r.endpoint != "" {
		flags += " --endpoint-url " + r.endpoint
	}
	_, err := fmt.Fprintf(r.cfg.Out, "To look at it from another terminal while it runs, in the root of the repository:\n\n  go run ./cmd/dynamolease watch %s %s\n\n", service, flags)
	return err
}

// checkInput returns the number of files of each partition.
func checkInput(dir string) (sizes [Partitions]int, err error) {
	files, err := goFiles(os.DirFS(dir))
	switch {
	case err != nil:
		return sizes, fmt.Errorf("look at %s: %w", dir, err)
	case len(files) == 0:
		return sizes, fmt.Errorf("look at %s: there are no .go files in it", dir)
	}
	for partition, part := range split(files) {
		sizes[partition] = len(part)
	}
	return sizes, nil
}

// keepThread keeps the caller on its thread until the returned function is called, because the
// workers end with the thread that started them.
func keepThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// deleteTable deletes the table, if it was made. It does so also after an interruption.
func (r *run) deleteTable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	_, err := r.results.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &r.results.table})
	var missing *types.ResourceNotFoundException
	if err != nil && !errors.As(err, &missing) {
		return fmt.Errorf("delete table %s: %w", r.results.table, err)
	}
	return nil
}

// A run is one run of the demo.
type run struct {
	cfg     Config
	sizes   [Partitions]int // in files
	records string          // the directory
	clock   clock
	chaos   chaos

	endpoint string
	store    *dynamolease.Store
	results  *results

	workers []*process
	plain   *background
}

func (r *run) run(ctx context.Context) (v Verdict, err error) {
	defer func() { err = errors.Join(err, r.closeWorkers()) }()
	if err := r.startWorkers(); err != nil {
		return v, err
	}
	r.plain = countInBackground(ctx, os.DirFS(r.cfg.Input))
	defer r.plain.stop()
	show := newView(r.cfg.Out, r.cfg.Style)
	err = r.watch(ctx, show)
	if err := errors.Join(err, show.close()); err != nil {
		return v, err
	}
	return r.verdict(ctx)
}

func (r *run) startWorkers() error {
	env := []string{"DYNAMODB_ENDPOINT=" + r.endpoint}
	for i := range Workers {
		name := fmt.Sprintf("w%d", i+1)
		command, err := r.cfg.Command(WorkerConfig{
			Name: name, Table: r.results.table, Input: r.cfg.Input, Record: r.record(name), TTL: r.cfg.TTL, Pace: r.cfg.Pace,
		})
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		p, err := startProcess(name, command, env)
		if err != nil {
			return err
		}
		r.workers = append(r.workers, p)
	}
	return nil
}

func (r *run) record(worker string) string { return filepath.Join(r.records, worker+".jsonl") }

// dismissWorkers tells the workers to end.
func (r *run) dismissWorkers() error {
	var err error
	for _, p := range r.workers {
		err = errors.Join(err, p.dismiss())
	}
	return err
}

func (r *run) closeWorkers() error {
	var err error
	for _, p := range r.workers {
		err = errors.Join(err, p.close())
	}
	return err
}

// verdict judges the run when all is over.
func (r *run) verdict(ctx context.Context) (Verdict, error) {
	f := facts{ttl: r.cfg.TTL, diedAt: r.chaos.diedAt(), stopped: r.chaos.pauses()}
	var err error
	if f.expected, err = r.plain.wait(ctx); err != nil {
		return Verdict{}, fmt.Errorf("count the input: %w", err)
	}
	if f.results, err = r.results.read(ctx); err != nil {
		return Verdict{}, err
	}
	for _, p := range r.workers {
		events, err := readRecord(r.record(p.name))
		if err != nil {
			return Verdict{}, err
		}
		f.events = append(f.events, events...)
	}
	return judge(f), nil
}
