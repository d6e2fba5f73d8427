package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A function handles the invocations of Lambda. If Lambda is set up for it, several run at once.
// Only the store lives on between invocations, because it knows the store's time.
type function struct {
	problem  error // with the configuration; if it is set, the other fields are not
	settings settings
	store    *dynamolease.Store
	log      *slog.Logger
	out      io.Writer // for metrics: the function's standard output
}

// newFunction makes no request, and is quick. If the configuration is wrong, each invocation
// returns that error: Lambda passes it on and counts it. If the process exited instead, Lambda
// would show only the exit status.
func newFunction(ctx context.Context, getenv func(string) string, log *slog.Logger, out io.Writer) *function {
	f := &function{log: log, out: out}
	if f.settings, f.problem = readSettings(getenv); f.problem == nil {
		f.store, f.problem = openStore(ctx, f.settings.table, log)
	}
	return f
}

func openStore(ctx context.Context, table string, log *slog.Logger) (*dynamolease.Store, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, configurationError{fmt.Sprintf("load the AWS configuration: %v", err)}
	}
	store, err := dynamolease.New(dynamodb.NewFromConfig(cfg), table, func(o *dynamolease.Options) { o.Logger = log })
	if err != nil {
		return nil, configurationError{fmt.Sprintf("%s: %v", tableVariable, err)}
	}
	return store, nil
}

// invoke does one run. ctx ends at the function's timeout.
func (f *function) invoke(ctx context.Context) (*summary, error) {
	if f.problem != nil {
		f.log.ErrorContext(ctx, "bad configuration", "err", f.problem)
		return nil, f.problem
	}
	began := time.Now()
	report, err := f.store.Reap(ctx, f.settings.reap)
	run := summarize(f.settings.table, report, err, time.Since(began))
	err = failure(run, err)
	f.tell(ctx, run, report.Malformed, err)
	if err != nil {
		return nil, err
	}
	return &run, nil
}

// failure returns the error of an invocation. A run that had to stop early is no failure if it
// read any row.
func failure(run summary, err error) error {
	switch {
	case errors.Is(err, errShutdown) && run.Scanned > 0:
		return nil
	case err == nil && !run.Complete && run.Scanned == 0:
		return fmt.Errorf("reap: the run was stopped by %s before it read a row", run.Stopped)
	}
	return err
}

// tell logs the result of the run, even if it failed.
func (f *function) tell(ctx context.Context, run summary, malformed []error, err error) {
	if len(malformed) > 0 {
		f.log.WarnContext(ctx, "unreadable rows", "table", run.Table, "count", run.Unreadable, "first", texts(malformed))
	}
	if err != nil {
		f.log.ErrorContext(ctx, "reaped", "run", run, "err", err)
	} else {
		f.log.InfoContext(ctx, "reaped", "run", run)
	}
	if err := writeMetrics(f.out, time.Now(), run); err != nil {
		f.log.ErrorContext(ctx, "metrics lost", "err", err)
	}
}

func texts(errs []error) []string {
	list := make([]string, len(errs))
	for i, err := range errs {
		list[i] = err.Error()
	}
	return list
}
