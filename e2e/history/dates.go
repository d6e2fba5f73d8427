package history

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Dates stamp the answers that one node gets with the store's time, which is the bubble's. Of those of a store with
// lying front ends, a few are false: skewed, frozen, garbled or dropped, never two of six in a row.
type dates struct {
	mu     sync.Mutex
	dice   *rand.Rand
	lying  bool
	own    bool // the store has dates of its own
	honest int  // answers since the last false one
	frozen string
}

func (d *dates) stamp(header http.Header) (truthful bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.own && header.Get("Date") != "" {
		return true
	}
	now := time.Now().UTC().Format(http.TimeFormat)
	if d.frozen == "" {
		d.frozen = now
	}
	how, skew := d.dice.IntN(24), time.Duration(d.dice.Int64N(int64(6*time.Hour)))-3*time.Hour
	d.honest++
	header.Set("Date", now)
	if !d.lying || d.honest < 6 {
		return true
	}
	switch how {
	case 0, 1:
		header.Set("Date", time.Now().Add(skew).UTC().Format(http.TimeFormat))
	case 2:
		header.Set("Date", d.frozen)
	case 3:
		header.Set("Date", "yesterday, or so")
	case 4:
		header.Del("Date")
	default:
		return true
	}
	d.honest = 0
	return false
}
