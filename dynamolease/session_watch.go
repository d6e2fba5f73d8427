package dynamolease

import (
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A sessionWatch tells by this node's own clock that a session is dead: its row has kept one rev for
// as long as the session lasts.
//
// Time counts from when the answer arrived that first showed the rev. The heartbeat that left the
// rev began before that, and so did its sender's own count. The sender may believe in that heartbeat
// for the session's ttl, on its own clock; the drift of both clocks comes on top here. A heartbeat
// that lands meanwhile leaves another rev, by which the closing of the session is refused.
type sessionWatch struct {
	time *rowstore.Time

	mu   sync.Mutex
	rows map[rowstore.Key]sighting
	full int // sweep at so many rows
}

// A sighting is a rev, when its first answer came, and when its latest reading began. The row has
// been written by a heartbeat after the latest reading of another rev began, if there was one: others
// write it without a later expiry.
type sighting struct {
	rev           string
	exp           int64
	first, latest elapsed.Reading
	beaten        bool
	after         elapsed.Reading
}

const (
	firstWatchSweep = 1024
	// unseen is after how long a row is watched no more. A row that comes back is watched anew.
	unseen = time.Hour
)

func newSessionWatch(clock *rowstore.Time) *sessionWatch {
	return &sessionWatch{time: clock, rows: make(map[rowstore.Key]sighting), full: firstWatchSweep}
}

// see notes the row of a session that has just been read. It reports whether the session was dead
// when that reading began, and whether the row was seen to change within half of the session's ttl:
// then it is alive, whatever the store's clock says.
//
// That a ttl has passed is counted with the clock that shows the least, and that less than half of
// it has passed with the one that shows the most: this machine may have been suspended.
func (w *sessionWatch) see(row memberRow, began elapsed.Reading) (dead, fresh bool) {
	if row.lasts == 0 || row.over() {
		return false, false
	}
	now := w.time.Elapsed()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.rows[row.key]
	if s.rev != row.rev {
		s = sighting{rev: row.rev, exp: row.exp, first: now, beaten: s.rev != "" && row.exp > s.exp, after: s.latest}
	}
	s.latest = began // the answer may have been on its way for long
	w.rows[row.key] = s
	if len(w.rows) >= w.full {
		w.sweep(now.Min)
	}
	lasts := time.Duration(row.lasts) * time.Millisecond
	return began.Min-s.first.Min >= w.certain(lasts), s.beaten && began.Max-s.after.Max < lasts/2
}

// certain returns for how long a row has to stay as it is: the clock of the session may be slow, and
// this node's fast.
func (w *sessionWatch) certain(lasts time.Duration) time.Duration {
	drift := float64(lasts) * 2 * float64(w.time.Drift) / float64(1_000_000-w.time.Drift)
	return lasts + time.Duration(drift) + 2*elapsed.Doubt + 1
}

func (w *sessionWatch) sweep(now time.Duration) {
	for k, s := range w.rows {
		if now-s.latest.Min > unseen {
			delete(w.rows, k)
		}
	}
	w.full = max(firstWatchSweep, 2*len(w.rows))
}
