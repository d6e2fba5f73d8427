package dynamolease

import (
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A rowWatch tells by this node's own clock whether the holder of a row is there: of the row of a
// session, or of a lease that could not be acquired before. Whatever the store's clock says, a session
// is dead when its row has kept one rev for as long as it lasts, and a holder is there when it has
// just renewed its row.
//
// For a death, time counts from when the answer arrived that first showed the rev. The heartbeat
// that left the rev began before that, and so did its sender's own count. The sender may believe in
// that heartbeat for the session's ttl, on its own clock; the drift of both clocks comes on top here.
// A heartbeat that lands meanwhile leaves another rev, by which the closing of the session is refused.
type rowWatch struct {
	time *rowstore.Time

	mu   sync.Mutex
	rows map[rowstore.Key]observation
	full int // sweep at so many rows
}

// A watched row lasts for so many milliseconds if its holder does not renew it; 0 where it does not
// say.
type watched struct {
	key        rowstore.Key
	rev        string
	exp, lasts int64
}

// ttl returns how long the row lasts; false if it does not say, or cannot be right.
func (r watched) ttl() (time.Duration, bool) {
	return time.Duration(r.lasts) * time.Millisecond, r.lasts > 0 && r.lasts <= MaxTTL.Milliseconds()
}

// An observation is a rev, when its first answer came, and when its latest reading began. The row has
// been renewed after the latest reading of another rev began, if there was one: others write it
// without a later expiry.
type observation struct {
	rev           string
	exp           int64
	first, latest elapsed.Reading
	renewed       bool
	after         elapsed.Reading
	until         time.Duration // when it may be forgotten
}

const (
	firstWatchSweep = 1024
	// unseen is after how long a row is watched no more, or when it would be over, if that is earlier.
	// A row that comes back is watched anew.
	unseen = time.Hour
)

func newRowWatch(clock *rowstore.Time) *rowWatch {
	return &rowWatch{time: clock, rows: make(map[rowstore.Key]observation), full: firstWatchSweep}
}

// note remembers a row whose reading began then, and has ended.
func (w *rowWatch) note(row watched, began elapsed.Reading) {
	lasts, ok := row.ttl()
	if !ok {
		return
	}
	now := w.time.Elapsed()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.next(row, now)
	s.latest = began // the answer may have been on its way for long
	s.until = now.Min + min(w.certain(lasts), unseen)
	w.rows[row.key] = s
	if len(w.rows) >= w.full {
		w.sweep(now.Min)
	}
}

// judge reports whether a row had stayed as it is for all its ttl when the reading of it began, and
// whether it was seen to be renewed within half of that: then its holder is there.
//
// That a ttl has passed is counted with the clock that shows the least, and that less than half of
// it has passed with the one that shows the most: this machine may have been suspended.
func (w *rowWatch) judge(row watched, began elapsed.Reading) (still, renewed bool) {
	lasts, ok := row.ttl()
	if !ok {
		return false, false
	}
	now := w.time.Elapsed()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.next(row, now)
	return began.Min-s.first.Min >= w.certain(lasts), s.renewed && began.Max-s.after.Max < lasts/2
}

// left returns after what time from a reading the judgement of a row that stays as it is changes: when
// it will have stayed so for all its ttl, and when it will not have been renewed lately any more. Of a
// row that does not say how long it lasts, the first is never.
func (w *rowWatch) left(row watched, began elapsed.Reading) (still, renewed time.Duration) {
	lasts, ok := row.ttl()
	if !ok {
		return MaxTTL, 0
	}
	now := w.time.Elapsed()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.next(row, now)
	if s.renewed {
		renewed = lasts/2 - (began.Max - s.after.Max)
	}
	return w.certain(lasts) - (began.Min - s.first.Min), renewed
}

// next returns the observation of a row as it is now.
func (w *rowWatch) next(row watched, now elapsed.Reading) observation {
	s := w.rows[row.key]
	if s.rev != row.rev {
		return observation{rev: row.rev, exp: row.exp, first: now, renewed: s.rev != "" && row.exp > s.exp, after: s.latest}
	}
	return s
}

// certain returns for how long a row has to stay as it is: the clock of the session may be slow, and
// this node's fast.
func (w *rowWatch) certain(lasts time.Duration) time.Duration {
	drift := float64(lasts) * 2 * float64(w.time.Drift) / float64(1_000_000-w.time.Drift)
	return lasts + time.Duration(drift) + 2*elapsed.Doubt + 1
}

func (w *rowWatch) sweep(now time.Duration) {
	for k, s := range w.rows {
		if now > s.until {
			delete(w.rows, k)
		}
	}
	w.full = max(firstWatchSweep, 2*len(w.rows))
}
