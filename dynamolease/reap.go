package dynamolease

import (
	"context"
	"fmt"
	"time"
)

// A ReapConfig says what a run of [Store.Reap] does. The zero value of each field stands for its default.
type ReapConfig struct {
	// Grace is how long a row stays after its ttl has passed. Defaults to 0; at most a year.
	Grace time.Duration

	// Segments is how many parts of the table are scanned at the same time, each with up to 32 deletes in flight.
	// Defaults to 1; at most 16.
	Segments int

	// Limit bounds the deletes of the run, and with them the write units: one for each KB of a row. Defaults to no limit.
	Limit int
}

// A ReapReport is what a run of [Store.Reap] did. Of the rows that are Due, those that are in none of Deleted, Raced,
// Kept, Unreadable and Unanswered are what a run that ended early did not get to.
type ReapReport struct {
	Scanned    int     // rows read
	Due        int     // of these, rows whose ttl, and the grace after it, have surely passed, or cannot be read
	Deleted    int     // rows that this run deleted
	Raced      int     // rows that changed, or were gone, between the scan and the delete: left alone
	Kept       int     // rows that are due but never deleted: live ones, heads of process leases, rows of others
	Unreadable int     // rows with a ttl that are not as this library writes them: left alone
	Malformed  []error // the first ten of those, each a [*RowError]
	Unanswered int     // deletes that may have been done: the run ended before an answer came

	ReadUnits, WriteUnits float64 // what the store says that scans and deletes consumed
	Throttled             int     // requests that the store turned away, and that were repeated

	Resumed bool       // it began where an earlier run had ended
	Stopped StopReason // why it ended before the end of the table; empty when it got there, or failed
}

// A StopReason is why a run of [Store.Reap] ended before the end of the table. The next run goes on there.
type StopReason string

const (
	StoppedByDeadline   StopReason = "deadline"   // little time was left until the context's deadline
	StoppedByLimit      StopReason = "limit"      // ReapConfig.Limit deletes were sent
	StoppedByThrottling StopReason = "throttling" // the store turned a request away again and again, for 10 seconds
)

const maxSegments = 16 // each holds a page of rows in memory

func (c *ReapConfig) validate() error {
	switch {
	case c.Grace < 0 || c.Grace > maxTTL:
		return &ArgumentError{"ReapConfig.Grace", "must be between 0 and a year"}
	case c.Segments < 0 || c.Segments > maxSegments:
		return &ArgumentError{"ReapConfig.Segments", fmt.Sprintf("must be between 1 and %d", maxSegments)}
	case c.Limit < 0:
		return &ArgumentError{"ReapConfig.Limit", "must be a number of rows, or 0 for no limit"}
	}
	return nil
}

// Reap deletes the rows that are of no use any more: those whose ttl has surely passed by the store's clock, and that are
// not live by the rules of leases and members. DynamoDB does that too, free of charge, but may take days over it, and
// every reading of a service's members pays for the rows of nodes that are gone.
//
// It never deletes a row without ttl, a live one, the head of a process lease, one that it cannot read (the report names
// those), or one of somebody else's. Each delete is conditional on the row being as it was seen, so that a row that was
// renewed or acquired since stays, and a delete that comes late deletes nothing else. So it may run at any time, and
// several at once. Epochs survive it: see "Epochs" in the package documentation.
//
// A run that does not get to the end of the table says so in its report, and that is no error: because the context's
// deadline is near (a tenth of the time until then is kept back, at most 2 seconds), because of the limit, or because the
// store has no capacity to spare. The next run, in whatever process, goes on there if it has the same number of segments.
//
// It is one eventually consistent Scan (half a read unit for 4 KB), a conditional DeleteItem for each row that it
// deletes, and one read, and sometimes a write, of the row in which it keeps its position.
//
// Errors: [ArgumentError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds a request. The
// report is there after an error, too.
func (s *Store) Reap(ctx context.Context, cfg ReapConfig) (ReapReport, error) {
	if err := cfg.validate(); err != nil {
		return ReapReport{}, s.explain(err, "reap")
	}
	setDefault(&cfg.Segments, 1)
	work, cancel := aheadOf(ctx)
	defer cancel()
	r := &reaping{store: s, cfg: cfg}
	r.run(work, ctx)
	if ctx.Err() != nil && r.err == nil && r.report.Stopped == StoppedByDeadline {
		r.err, r.report.Stopped = context.Cause(ctx), ""
	}
	return r.report, s.explain(r.err, "reap")
}

// aheadOf returns a context that ends before ctx does, with time enough left to keep the position and to report.
func aheadOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	reserve := min(time.Until(deadline)/10, 2*time.Second)
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}
