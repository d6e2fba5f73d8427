package processlease

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// An Authority speaks for the process leases of all nodes in one table, with one ttl. It is safe for concurrent use, and
// one per process and table is enough.
type Authority struct {
	rows      *rowstore.Table
	ttl       time.Duration
	retention time.Duration // of fences; KeepFences
	logger    *slog.Logger

	clock      elapsed.Clock
	quick      *quickClock // for Manager.Valid
	background sync.WaitGroup

	mu     sync.Mutex
	closed bool // no more background work may begin
}

// NewAuthority returns the authority over a table that looks like the one that [dynamolease.Store.CreateTable] makes.
// All processes should use the same ttl, a whole number of milliseconds; [DefaultTTL] is a good one. It makes no request.
// The error is a [dynamolease.ArgumentError] that names what cannot be used.
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
	storeTime := storeclock.New(storeclock.Config{Elapsed: clock, Slack: storeclock.DefaultSlack,
		Margin: storeclock.DefaultMargin, DriftPPM: storeclock.DefaultDriftPPM, MaxSkew: storeclock.DefaultMaxSkew})
	return &Authority{
		rows: &rowstore.Table{
			Client: client, Name: table, Sender: request.NewSender(storeTime, clock), MaxWait: o.RequestTimeout,
			// The store's time dates the end of a fence's retention, and decides nothing.
			Time: &rowstore.Time{Elapsed: clock, Store: storeTime}, Timeless: true,
		},
		ttl:       ttl,
		retention: o.FenceRetention,
		logger:    o.Logger,
		clock:     clock,
		quick:     newQuickClock(clock, &o),
	}, nil
}

// StoreFor returns a store for the lease of one node.
func (a *Authority) StoreFor(node string) (*Store, error) {
	if err := checkNode(node); err != nil {
		return nil, err
	}
	return a.store(node), nil
}

func (a *Authority) store(node string) *Store {
	never := func(headWrite, int64) bool { return false }
	return &Store{authority: a, node: node, heads: rowstore.NewCache(never)}
}

// Close waits until the background work has ended that dates superseded fences, which takes at most 10 seconds, and has no
// more of it begin. Nothing is lost without it but that work, which the next takeover makes up for. Everything else works on.
func (a *Authority) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.background.Wait()
}

// inBackground runs work that Close waits for, unless it was closed.
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

// get reads a row, strongly consistent, until there is an answer. A row that is not there is empty.
func (a *Authority) get(ctx context.Context, k rowstore.Key, budget *request.Budget) (rowstore.Item, error) {
	row, _, err := a.rows.Get(ctx, k, budget, a.rows.Timeout(a.ttl))
	return row, a.failure(ctx, err)
}

// evidence reads a fence. Without one, found is false.
func (a *Authority) evidence(ctx context.Context, node string, k rowstore.Key, budget *request.Budget) (f Fence, found bool, err error) {
	row, err := a.get(ctx, k, budget)
	if err != nil || len(row) == 0 {
		return Fence{}, false, err
	}
	f, err = decodeFence(k, node, row)
	return f, err == nil, err
}
