package dynamolease

import (
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
