package dynamolease

import (
	"fmt"
	"time"
)

// A ReapConfig configures a run of [Store.Reap]. The zero value of each field stands for its
// default.
type ReapConfig struct {
	// Grace is the time for which a row stays after its ttl has passed. Defaults to 0; at most a
	// year.
	Grace time.Duration

	// Segments is the number of parts of the table that a run scans in parallel, each with up to 32
	// deletes in flight. Defaults to 1; at most 16.
	Segments int

	// Limit bounds the deletes of the run, and the leases that it frees, and with them the write
	// units: one for each KB of a row. Defaults to no limit.
	Limit int
}

// A ReapReport is the result of a run of [Store.Reap]. If a run stops early, some rows that are Due
// may be in none of Deleted, Raced, Kept, Unreadable and Unanswered: the run did not reach those.
type ReapReport struct {
	Scanned int // rows read

	// Due counts those of the scanned rows whose ttl, and the grace after it, have surely passed,
	// or whose ttl cannot be read.
	Due int

	Deleted    int     // rows that this run deleted
	Freed      int     // leases of sessions that are over, which this run freed: one write unit each
	Raced      int     // rows that changed, or were gone, between the scan and the write: left alone
	Kept       int     // due rows that are never deleted: live, a process lease's head, not ours
	Unreadable int     // rows that are due, or keep a lease, in a form that this library does not write: left alone
	Malformed  []error // the first ten of the unreadable rows, each a [*RowError]
	Unanswered int     // deletes that may have been done: the run ended before an answer came

	ReadUnits, WriteUnits float64 // of scans and deletes, as the store reports them
	Throttled             int     // requests that the store rejected as too busy, and that Reap retried

	Resumed bool       // the run began where an earlier run had stopped
	Stopped StopReason // why the run stopped early; empty if it reached the end of the table, or failed
}

// A StopReason says why a run of [Store.Reap] stopped before the end of the table. The next run
// continues from there.
type StopReason string

const (
	StoppedByDeadline   StopReason = "deadline"   // little time was left until the context's deadline
	StoppedByLimit      StopReason = "limit"      // ReapConfig.Limit writes were sent
	StoppedByThrottling StopReason = "throttling" // the store rejected a request again and again, for 10 seconds
)

const maxSegments = 16 // each holds a page of rows in memory

func (c *ReapConfig) validate() error {
	switch {
	case c.Grace < 0 || c.Grace > MaxTTL:
		return &ArgumentError{"ReapConfig.Grace", "must be between 0 and a year"}
	case c.Segments < 0 || c.Segments > maxSegments:
		return &ArgumentError{"ReapConfig.Segments", fmt.Sprintf("must be between 1 and %d", maxSegments)}
	case c.Limit < 0:
		return &ArgumentError{"ReapConfig.Limit", "must be a number of rows, or 0 for no limit"}
	}
	return nil
}
