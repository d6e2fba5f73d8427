package history

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// dates stamps the answers to one node with the store's time, which is the bubble's. If the front
// ends of the store lie, a few dates are false: skewed, frozen, garbled or missing. At least five
// true dates come between two false ones.
type dates struct {
	mu     sync.Mutex
	dice   *rand.Rand
	lying  bool
	own    bool // the store sends dates itself
	honest int  // answers since the last false one
	frozen string
}

// stamp dates an answer of a machine whose clock is wrong by so much, and returns what is false
// about the date.
func (d *dates) stamp(header http.Header, wrong time.Duration) fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.own && header.Get("Date") != "" {
		return none
	}
	now := time.Now().Add(wrong).UTC().Format(http.TimeFormat)
	if d.frozen == "" {
		d.frozen = now
	}
	how, skew := d.dice.IntN(24), time.Duration(d.dice.Int64N(int64(6*time.Hour)))-3*time.Hour
	d.honest++
	header.Set("Date", now)
	switch {
	case wrong != 0:
		return wrongMachine
	case !d.lying || d.honest < 6:
		return none
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
		return none
	}
	d.honest = 0
	return falseDate
}
