package dynamolease

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

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

// run reaps each segment from where the last run left it, and keeps where this one got to. work ends
// before ctx does.
func (r *reaping) run(work, ctx context.Context) {
	before, err := r.position(work)
	if err != nil {
		r.halt(work, err)
		return
	}
	r.report.Resumed = before.resumes()
	after := slices.Clone(before)
	_ = rowstore.Parallel(len(after), len(after), func(i int) error {
		after[i] = r.segment(work, i, before[i])
		return nil
	})
	r.keep(ctx, before, after)
}
