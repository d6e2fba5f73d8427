package dynamotest

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// An arena is where the requests of a Server's tables meet. It waits for nothing while it is locked, and
// has no timers: bubbles with clocks of their own may use it at the same time.
type arena struct {
	mu     sync.Mutex
	tables map[string]*contended
	held   map[rowName]*hold
	keys   map[keyName]*capacity
	done   map[string]*hold // of transactions that were applied, by token
}

// A contended is a table whose requests hinder each other.
type contended struct {
	Contention
	usage Usage
}

// A hold is that of a transaction.
type hold struct {
	token string
	until time.Time // zero while the server works on it
}

func (h *hold) over(now time.Time) bool { return !h.until.IsZero() && !now.Before(h.until) }

func (a *arena) set(table string, c Contention) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tables == nil {
		a.tables, a.held, a.keys = make(map[string]*contended), make(map[rowName]*hold), make(map[keyName]*capacity)
		a.done = make(map[string]*hold)
	}
	a.tables[table] = &contended{Contention: c}
	for key := range a.keys {
		if key.table == table {
			delete(a.keys, key)
		}
	}
}

func (a *arena) used(table string) Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tables[table]; t != nil {
		return t.usage
	}
	return Usage{}
}

// empty reports whether no table ever contended.
func (a *arena) empty() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tables) == 0
}

// minds reports whether a request may be hindered at all.
func (a *arena) minds(d *demand, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h := a.done[d.token]; d.token != "" && h != nil && h.over(now) {
		return false
	}
	return slices.ContainsFunc(d.rows, func(r rowName) bool { return a.tables[r.table] != nil })
}

// enter takes the units of a request and holds the rows of a transaction, or returns the refusal.
func (a *arena) enter(d *demand, now time.Time) Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tablesOf(d) {
		t.usage.Requests++
	}
	if reasons := a.throttle(d, now); reasons != nil {
		for _, t := range a.tablesOf(d) {
			t.usage.Throttled++
		}
		if d.transacts() {
			return Cancelled(reasons...)
		}
		return overloaded(d.writes)
	}
	for _, r := range d.rows {
		a.take(d, r, d.each, now)
	}
	if reasons, own := a.conflict(d, now); reasons != nil {
		for _, t := range a.tablesOf(d) {
			t.usage.Conflicts++
		}
		switch {
		case own:
			return inProgress()
		case d.transacts():
			return Cancelled(reasons...)
		}
		return Conflict()
	}
	if d.op == "TransactWriteItems" {
		d.hold = &hold{token: d.token}
		for _, r := range d.rows {
			if t := a.tables[r.table]; t != nil && t.Hold > 0 {
				a.held[r] = d.hold
			}
		}
	}
	return nil
}

// throttle returns a reason for each row if a key has no units left.
func (a *arena) throttle(d *demand, now time.Time) []string {
	return a.reasons(d, "ThrottlingError", func(r rowName) bool {
		t := a.tables[r.table]
		return t != nil && !a.capacity(r.key(), now).of(d.writes).left(t.limit(d.writes), now)
	})
}

// conflict returns a reason for each row if one is held, and whether that is by the same transaction.
func (a *arena) conflict(d *demand, now time.Time) (reasons []string, own bool) {
	if !d.conflicts() {
		return nil, false
	}
	reasons = a.reasons(d, "TransactionConflict", func(r rowName) bool {
		h, t := a.held[r], a.tables[r.table]
		switch {
		case h == nil || t == nil || t.Hold == 0:
			return false
		case h.over(now):
			delete(a.held, r)
			return false
		}
		own = own || d.token != "" && h.token == d.token
		return true
	})
	return reasons, own
}

func (a *arena) reasons(d *demand, reason string, is func(rowName) bool) []string {
	reasons, found := make([]string, len(d.rows)), false
	for i, r := range d.rows {
		reasons[i] = "None"
		if is(r) {
			reasons[i], found = reason, true
		}
	}
	if !found {
		return nil
	}
	return reasons
}

// leave settles the units of a request that the server has answered, and returns until when its rows
// are held.
func (a *arena) leave(d *demand, resp *http.Response, now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if resp != nil && resp.StatusCode == http.StatusOK {
		body, _ := wholeBody(resp) // is in memory
		a.correct(d, unitsOf(body), now)
		if d.token != "" {
			a.done[d.token] = d.hold
		}
	}
	if d.hold == nil {
		return now
	}
	longest := time.Duration(0)
	for _, t := range a.tablesOf(d) {
		longest = max(longest, t.Hold)
	}
	d.hold.until = now.Add(longest)
	return d.hold.until
}

// correct takes what a request used more than was expected, or gives back what it used less.
func (a *arena) correct(d *demand, units map[string]float64, now time.Time) {
	rows := make(map[string]float64)
	for _, r := range d.rows {
		rows[r.table]++
	}
	for _, r := range d.rows {
		if sum, ok := units[r.table]; ok {
			a.take(d, r, sum/rows[r.table]-d.each, now)
		}
	}
}

func (a *arena) take(d *demand, r rowName, units float64, now time.Time) {
	t := a.tables[r.table]
	if t == nil {
		return
	}
	sum := a.capacity(r.key(), now).of(d.writes).take(units, now)
	if d.writes {
		t.usage.WriteUnits += units
		t.usage.PeakWriteUnits = max(t.usage.PeakWriteUnits, sum)
	} else {
		t.usage.ReadUnits += units
		t.usage.PeakReadUnits = max(t.usage.PeakReadUnits, sum)
	}
}

// tablesOf returns the tables of a request whose requests hinder each other.
func (a *arena) tablesOf(d *demand) map[string]*contended {
	found := make(map[string]*contended)
	for _, r := range d.rows {
		if t := a.tables[r.table]; t != nil {
			found[r.table] = t
		}
	}
	return found
}

func (a *arena) capacity(key keyName, now time.Time) *capacity {
	c := a.keys[key]
	if c == nil {
		t := a.tables[key.table]
		c = &capacity{reads: store{units: t.ReadUnits, at: now}, writes: store{units: t.WriteUnits, at: now}}
		a.keys[key] = c
	}
	return c
}
