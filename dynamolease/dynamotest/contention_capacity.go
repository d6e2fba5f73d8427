package dynamotest

import "time"

// A capacity is the units that a partition key has in store.
type capacity struct{ reads, writes store }

func (c *capacity) of(writes bool) *store {
	if writes {
		return &c.writes
	}
	return &c.reads
}

func (c Contention) limit(writes bool) float64 {
	if writes {
		return c.WriteUnits
	}
	return c.ReadUnits
}

// A store is refilled all the time, up to what comes in a second.
type store struct {
	units  float64
	at     time.Time // when it was refilled last
	second time.Time // the latest one in which something was taken
	taken  float64   // in that second
}

// left reports whether there is anything left. A limit of zero is none.
func (s *store) left(limit float64, now time.Time) bool {
	s.units = min(limit, s.units+max(0, now.Sub(s.at).Seconds())*limit)
	s.at = now
	return limit == 0 || s.units > 0
}

// take takes units, and returns how many were taken in this second.
func (s *store) take(units float64, now time.Time) float64 {
	if second := now.Truncate(time.Second); !second.Equal(s.second) {
		s.second, s.taken = second, 0
	}
	s.units -= units
	s.taken += units
	return s.taken
}
