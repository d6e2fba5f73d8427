package storeclock

import (
	"net/http"
	"strings"
	"time"
)

// ParseDate returns the time at which a response says that it was made, in
// whole seconds. It returns false if there is no such time, if it cannot be
// read, or if a cache answered instead of the store, as an Age header shows.
//
// When a proxy has added a Date of its own, the first one counts.
func ParseDate(h http.Header) (time.Time, bool) {
	if len(h.Values("Age")) > 0 {
		return time.Time{}, false
	}
	date, err := http.ParseTime(strings.TrimSpace(h.Get("Date")))
	if err != nil || !plausible(date) {
		return time.Time{}, false
	}
	return date.UTC().Truncate(time.Second), true
}

// plausible keeps out dates that an instant, together with some ttl, might not
// be able to hold.
func plausible(date time.Time) bool {
	return date.Year() >= 1970 && date.Year() < 2200
}
