package storeclock

import (
	"encoding/binary"
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// Whatever dates come in whatever answers, at whatever times by the node's clocks: bounds are in order, and once the time is
// known it does not go back while nothing new is heard.
func FuzzObserve(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 2, 3, 1, 0, 0, 0, 2, 3, 1, 0, 0, 0, 2, 3})
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0x80, 9, 9, 5, 5, 5, 5, 200, 200})
	f.Fuzz(func(t *testing.T, answers []byte) {
		var now elapsed.Reading
		c := New(Config{Elapsed: func() elapsed.Reading { return now }, Slack: DefaultSlack, Margin: DefaultMargin, DriftPPM: DefaultDriftPPM})
		for ; len(answers) >= 6; answers = answers[6:] {
			sent := now
			took := time.Duration(answers[4]) * 10 * time.Millisecond
			now.Min += took
			now.Max += took
			date := time.Unix(int64(int32(binary.LittleEndian.Uint32(answers))), 0).UTC()
			c.Observe(sent, now, http.Header{"Date": {date.Format(http.TimeFormat)}}, "")
			first, known := c.Now()
			if known && first.Latest.Before(first.Earliest) {
				t.Fatalf("the time is from %v to %v", first.Earliest, first.Latest)
			}
			now.Min += time.Duration(answers[5]) * time.Second / 4
			now.Max += time.Duration(answers[5]) * time.Second / 4
			later, still := c.Now()
			switch {
			case known != still:
				t.Fatalf("the time was known: %v, and later: %v", known, still)
			case known && (later.Earliest.Before(first.Earliest) || later.Latest.Before(first.Latest)):
				t.Fatalf("the time goes back from %v to %v", first, later)
			}
		}
	})
}
