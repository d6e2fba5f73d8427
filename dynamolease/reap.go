package dynamolease

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Reap deletes the rows that are useless now: their ttl has surely passed by the store's clock,
// and they are not live by the rules of leases and members. DynamoDB deletes such rows too, free
// of charge, but may take days. Until then, every read of a service's members pays for the rows
// of nodes that are gone.
//
// Reap never deletes a row without ttl, a live row, the head of a process lease, a row that it
// cannot read (the report names those), or a row that is not of this library. Each delete is
// conditional on the row being as Reap saw it. So a row stays if it was renewed or acquired
// since, and a delete that comes late deletes nothing else. Reap may therefore run at any time,
// and several runs may run at once. Epochs survive it: see "Epochs" in the package documentation.
//
// A run may stop before the end of the table:
//
//   - because the context's deadline is near: Reap reserves a tenth of the time until then, at
//     most 2 seconds
//   - because of the limit
//   - because the store has no capacity to spare
//
// That is no error. The report says why the run stopped. The next run, in any process, continues
// from there if it has an equal number of segments.
//
// Once a day Reap also looks at the leases in sessions, whose rows have no ttl. It frees those whose
// session is closed, or has no row any more, as a release would; a retention later they are deleted.
//
// Reap costs one eventually consistent Scan (half a read unit for 4 KB), a conditional DeleteItem
// for each row that it deletes, and one read, and sometimes a write, of the row that keeps its
// position. Once a day it costs a read unit for each session that has leases in a page of the Scan
// (1,000 rows), and a write unit for each lease that it frees.
//
// The error is an [ArgumentError], a [SetupError], the context's or the SDK's, after retries for at
// most 10 seconds a request. Reap returns the report also with an error.
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

// aheadOf returns a context that ends before ctx ends. The reserve is enough time to keep the
// position and to report.
func aheadOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	reserve := min(time.Until(deadline)/10, 2*time.Second)
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// run reaps each segment from the place where the last run stopped, and keeps the place where
// this run stops. work ends before ctx ends.
func (r *reaping) run(work, ctx context.Context) {
	before, err := r.bookmark(work)
	if err != nil {
		r.halt(work, err)
		return
	}
	at, err := r.moment(work)
	if err != nil {
		r.halt(work, err)
		return
	}
	r.report.Resumed = before.places.resumes()
	after := before.looks(at)
	r.looking = after.looking
	_ = rowstore.Parallel(len(after.places), len(after.places), func(i int) error {
		after.places[i] = r.segment(work, i, before.places[i])
		return nil
	})
	r.keep(ctx, before, after)
}
