package rowstore

import (
	"strings"
	"sync"
	"time"
)

// A Cache holds the rows that were written last, so that the next write of each needs no read
// before it. Nothing is decided from it without a compare-and-set: a row that changed since costs a
// request more. It is safe for concurrent use.
type Cache[R Row[R]] struct {
	mu   sync.Mutex
	rows map[Key]cached[R]
	full int // sweep at so many rows

	// dead reports whether a row is of no use any more, at the latest that the store's clock may show.
	dead func(row R, latest int64) bool
}

type cached[R Row[R]] struct {
	Known[R]
	since int64 // the latest that the store's clock may have shown, in milliseconds
}

const (
	firstSweep = 1024
	maxLate    = 10 * time.Minute // after which a request is not delivered any more
)

// NewCache returns an empty cache. It drops a row once dead says that the row is of no use any
// more.
func NewCache[R Row[R]](dead func(row R, latest int64) bool) *Cache[R] {
	return &Cache[R]{rows: make(map[Key]cached[R]), full: firstSweep, dead: dead}
}

// Recall returns a known row.
func (c *Cache[R]) Recall(k Key) (Known[R], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.rows[k]
	return found.Known, ok
}

// Keep notes a row as it was written or seen at a moment.
func (c *Cache[R]) Keep(k Key, known Known[R], at Moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[k] = cached[R]{known, at.Latest()}
	if len(c.rows) >= c.full {
		c.sweep(at)
	}
}

// Amend changes what is known of a row, if it is known.
func (c *Cache[R]) Amend(k Key, change func(R) R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.rows[k]; ok {
		found.Row = change(found.Row)
		c.rows[k] = found
	}
}

// Forget drops a row that is now as it was seen or written last. It stays while a pending write of it
// may be applied yet: whoever gives the row up must take that into account.
func (c *Cache[R]) Forget(k Key, now R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.rows[k]
	if found.See(now); len(found.Pending) == 0 {
		delete(c.rows, k)
		return
	}
	c.rows[k] = found
}

// Pending returns the keys of one partition key that begin with prefix and have a pending write.
func (c *Cache[R]) Pending(pk, prefix string) []Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keys []Key
	for k, found := range c.rows {
		if k.PK == pk && strings.HasPrefix(k.SK, prefix) && len(found.Pending) > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// Any reports whether the cache holds a row that is so.
func (c *Cache[R]) Any(is func(R) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.rows {
		if is(found.Row) {
			return true
		}
	}
	return false
}

// sweep drops dead rows, so that a process that uses other rows for ever does not grow for ever.
func (c *Cache[R]) sweep(at Moment) {
	for k, found := range c.rows {
		late := len(found.Pending) > 0 && at.Latest()-found.since < maxLate.Milliseconds()
		if c.dead(found.Row, at.Latest()) && !late {
			delete(c.rows, k)
		}
	}
	c.full = max(firstSweep, 2*len(c.rows))
}
