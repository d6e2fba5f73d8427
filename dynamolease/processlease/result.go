package processlease

import "github.com/dynamolease/dynamolease/internal/elapsed"

// A Result says what came of a try to get a lease.
type Result struct {
	Record   Record // this boot's own, or that of the boot that holds the lease
	Acquired bool   // Record is this boot's own

	// Fence is the proof that the former boot was superseded. It is nil unless this boot took the
	// lease over.
	Fence *Fence

	own *acquired // nil unless acquired
}

// acquired is the part of a [Result] that a Manager begins with.
type acquired struct {
	identity *Identity
	boot     *boot
	number   uint64 // of the boot's results
	head     head
	start    elapsed.Reading // of the attempt that was applied
}

// A HeldError is returned if another boot holds the lease: by [Identity.Acquire] together with
// ErrDeadline, and as the cause of a [Manager]'s end. A boot that was superseded must stop its
// work. It never gets the lease back under its owner.
type HeldError struct {
	Record Record // the record of the boot that holds it
}

func (e *HeldError) Error() string { return "process lease held: " + e.Record.String() }
