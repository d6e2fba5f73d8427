package operate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Left is the time until an expiry: an interval, because the store's clock is known as an interval.
type Left struct{ AtLeast, AtMost time.Duration }

// LeftUntil returns the time until an expiry by the store's clock, or nil while the clock is
// unknown.
func LeftUntil(store *dynamolease.Store, expiry time.Time) *Left {
	earliest, latest, ok := store.Now()
	if !ok || expiry.IsZero() {
		return nil
	}
	return &Left{AtLeast: max(0, expiry.Sub(latest)), AtMost: max(0, expiry.Sub(earliest))}
}

func (l *Left) String() string {
	switch {
	case l == nil:
		return "unknown"
	case l.AtMost >= 10*time.Minute:
		return ">= " + l.AtLeast.Round(time.Second).String()
	default:
		return fmt.Sprintf("%.1f-%.1f s", l.AtLeast.Seconds(), l.AtMost.Seconds())
	}
}

// MarshalJSON writes the bounds in whole milliseconds.
func (l Left) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		AtLeast int64 `json:"at_least_ms"`
		AtMost  int64 `json:"at_most_ms"`
	}{l.AtLeast.Milliseconds(), l.AtMost.Milliseconds()})
}
