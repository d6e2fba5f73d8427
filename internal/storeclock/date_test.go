package storeclock

import (
	"net/http"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	const good = "Sun, 01 Mar 2026 12:00:00 GMT"
	for _, tc := range []struct {
		name   string
		header http.Header
		ok     bool
	}{
		{"plain", http.Header{"Date": {good}}, true},
		{"with spaces", http.Header{"Date": {"  " + good + " "}}, true},
		{"RFC 850", http.Header{"Date": {"Sunday, 01-Mar-26 12:00:00 GMT"}}, true},
		{"asctime", http.Header{"Date": {"Sun Mar  1 12:00:00 2026"}}, true},
		{"twice", http.Header{"Date": {good, "Mon, 02 Mar 2026 12:00:00 GMT"}}, true},
		{"twice, then garbage", http.Header{"Date": {good, "garbage"}}, true},
		{"garbage first", http.Header{"Date": {"garbage", good}}, false},
		{"two in one line", http.Header{"Date": {good + ", " + good}}, false},
		{"missing", http.Header{}, false},
		{"nil", nil, false},
		{"empty", http.Header{"Date": {""}}, false},
		{"no values", http.Header{"Date": {}}, false},
		{"number", http.Header{"Date": {"1772366400"}}, false},
		{"ISO 8601", http.Header{"Date": {"2026-03-01T12:00:00Z"}}, false},
		{"out of a cache", http.Header{"Date": {good}, "Age": {"0"}}, false},
		{"with an unreadable age", http.Header{"Date": {good}, "Age": {""}}, false},
		{"before the epoch", http.Header{"Date": {"Thu, 01 Jan 1600 00:00:00 GMT"}}, false},
		{"far in the future", http.Header{"Date": {"Fri, 31 Dec 9999 23:59:59 GMT"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := ParseDate(tc.header)
			if ok != tc.ok {
				t.Fatalf("ok = %v, want %v (got %v)", ok, tc.ok, got)
			}
			if ok && !got.Equal(epoch) {
				t.Errorf("got %v, want %v", got, epoch)
			}
		})
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("Sun, 01 Mar 2026 12:00:00 GMT", "")
	f.Add("Sunday, 01-Mar-26 12:00:00 PST", "")
	f.Add("Sun Mar  1 12:00:00 2026", "")
	f.Add("Sun, 01 Mar 2026 12:00:00.999999999 GMT", "")
	f.Add("\x00garbage", "12")
	f.Fuzz(func(t *testing.T, date, age string) {
		h := http.Header{"Date": {date}}
		if age != "" {
			h.Set("Age", age)
		}
		got, ok := ParseDate(h)
		switch {
		case !ok && !got.IsZero():
			t.Errorf("refused, but got %v", got)
		case !ok:
		case age != "":
			t.Errorf("took a date out of a cache")
		case got.Location() != time.UTC:
			t.Errorf("got %v, not in UTC", got)
		case !instantOf(got).time().Equal(got):
			t.Errorf("%v does not survive as an instant", got)
		case got.Nanosecond() != 0:
			t.Errorf("%v is not in whole seconds", got)
		}
	})
}
