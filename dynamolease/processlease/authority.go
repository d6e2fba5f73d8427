package processlease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/aside"
	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// An Authority reads and writes the process leases of all nodes in one table, with one ttl. It is
// safe for concurrent use. One per process and table is enough.
type Authority struct {
	rows      *rowstore.Table
	ttl       time.Duration
	retention time.Duration // of fences; may be KeepFences
	logger    *slog.Logger  // beside all that renews a lease
	records   *aside.Queue  // on their way to the log handler

	clock      elapsed.Stopwatch
	quick      *quickClock // for Manager.Valid
	boots      boots
	background sync.WaitGroup

	mu     sync.Mutex
	closed bool // no more background work may begin
}

// NewAuthority returns the authority over a table. The table must look like one that
// [dynamolease.Store.CreateTable] makes. All processes should use one ttl, a whole number of
// milliseconds; [DefaultTTL] is a good one. NewAuthority makes no request. The error is a
// [dynamolease.ArgumentError] that names the argument that cannot be used.
func NewAuthority(client Client, table string, ttl time.Duration, optFns ...func(*Options)) (*Authority, error) {
	var o Options
	for _, fn := range optFns {
		fn(&o)
	}
	o.setDefaults()
	switch {
	case request.Missing(client):
		return nil, &dynamolease.ArgumentError{Argument: "client", Problem: "must not be nil"}
	case table == "":
		return nil, &dynamolease.ArgumentError{Argument: "table", Problem: "must not be empty"}
	}
	if err := checkTTL(ttl); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	clock := o.clock()
	logger, records := aside.Logger(o.Logger)
	storeTime := storeclock.New(storeclock.Config{Elapsed: clock, Slack: storeclock.DefaultSlack,
		Margin: storeclock.DefaultMargin, DriftPPM: storeclock.DefaultDriftPPM})
	return &Authority{
		rows: &rowstore.Table{
			Client: client, Name: table, Sender: request.NewSender(storeTime, clock), MaxWait: o.RequestTimeout,
			// The store's time sets the end of a fence's retention. It decides nothing else.
			Time: &rowstore.Time{Elapsed: clock, Store: storeTime}, Timeless: true,
		},
		ttl:       ttl,
		retention: o.FenceRetention,
		logger:    logger,
		records:   records,
		clock:     clock,
		quick:     newQuickClock(clock, &o),
	}, nil
}

// Close waits until the background work has ended, at most 10 seconds, and prevents more of it.
// That work sets the ttl of superseded fences. If it does not finish, the next takeover does it;
// nothing else is lost. Then it waits for the log handler, at most a second. Everything else still
// works after Close.
func (a *Authority) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.background.Wait()
	a.records.Flush(time.Second)
}

// inBackground starts work that Close waits for. After Close it does nothing.
func (a *Authority) inBackground(work func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.background.Go(work)
	}
}

func (a *Authority) budget() *request.Budget {
	return a.rows.Budget(a.ttl)
}

// get reads a row, strongly consistent, and retries until there is an answer. If there is no row,
// the result is empty.
func (a *Authority) get(ctx context.Context, k rowstore.Key, budget *request.Budget) (rowstore.Item, error) {
	row, _, err := a.rows.Get(ctx, k, budget, a.rows.Timeout(a.ttl))
	return row, a.failure(ctx, err)
}

// head reads the head of a node.
func (a *Authority) head(ctx context.Context, node string, budget *request.Budget) (head, error) {
	row, err := a.get(ctx, headKey(node), budget)
	if err != nil {
		return head{}, err
	}
	return decodeHead(node, row)
}

// currentHead reads the head of a node. No head is an error.
func (a *Authority) currentHead(ctx context.Context, node string, budget *request.Budget) (head, error) {
	h, err := a.head(ctx, node, budget)
	if err == nil && !h.exists() {
		err = missing("the node has no head")
	}
	return h, err
}

// evidence reads a fence. If there is no fence, found is false.
func (a *Authority) evidence(ctx context.Context, node string, k rowstore.Key, budget *request.Budget) (f Fence, found bool, err error) {
	row, err := a.get(ctx, k, budget)
	if err != nil || len(row) == 0 {
		return Fence{}, false, err
	}
	f, err = decodeFence(k, node, row)
	return f, err == nil, err
}

// failure returns the error of a request that failed for good, or for longer than the call could
// retry. It leaves errors of this package, and that of the context, as they are.
func (a *Authority) failure(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrSuperseded), errors.Is(err, ErrIO), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	case errors.As(err, new(*dynamolease.SetupError)), errors.As(err, new(*dynamolease.ArgumentError)):
		return err
	case request.NoTable(err):
		return &dynamolease.SetupError{Table: a.rows.Name, Problem: "it does not exist in this account and Region (or is still being created)",
			Remedy: "create it, or check the name, the credentials and the Region", Err: err}
	case request.Denied(err):
		return &dynamolease.SetupError{Table: a.rows.Name, Problem: "these credentials are not allowed to do that",
			Remedy: "grant dynamodb:GetItem and dynamodb:UpdateItem on the table", Err: err}
	}
	return fmt.Errorf("%w: %w", ErrIO, err)
}
