//go:build !linux

package elapsed

import "time"

// bootClock returns nil: there is no portable clock that counts suspended time
// here, so a suspend shows on the wall clock only.
func bootClock() func() time.Duration { return nil }

// rawClock returns nil: there is no portable clock that nobody slews.
func rawClock() func() time.Duration { return nil }
