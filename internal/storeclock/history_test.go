package storeclock

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

func at(d time.Duration) elapsed.Reading { return elapsed.Reading{Min: d, Max: d} }

// received returns a sample that was received at d.
func received(d time.Duration) sample {
	return sample{date: instantOf(epoch.Add(d)), sent: at(d), received: at(d)}
}

func (h *history) ages(now time.Duration) []time.Duration {
	ages := make([]time.Duration, 0, len(h.samples))
	for _, s := range h.samples {
		ages = append(ages, now-s.received.Min)
	}
	return ages
}

func TestHistoryIsOrderedByReceipt(t *testing.T) {
	var h history
	for _, d := range []time.Duration{3, 1, 2, 5, 4} {
		h.add(received(d))
	}
	for i, age := range h.ages(6) {
		if want := time.Duration(5 - i); age != want {
			t.Errorf("sample %d has age %d, want %d", i, age, want)
		}
	}
}

func TestOldSamplesStayUntilNewerOnesReplaceThem(t *testing.T) {
	var h history
	for i := range 40 {
		h.add(received(time.Duration(i) * time.Second))
	}
	if got := len(h.samples); got != 40 {
		t.Fatalf("%d samples, want 40", got)
	}

	later := time.Hour
	h.add(received(later))
	if got := len(h.samples); got != windowMin {
		t.Errorf("%d samples after an hour without any, want %d", got, windowMin)
	}
	for i := range windowMin {
		h.add(received(later + time.Duration(i)*time.Second))
	}
	if oldest := h.ages(later)[0]; oldest > window {
		t.Errorf("the oldest sample has age %v though newer ones are enough", oldest)
	}
}

// However fast the responses, what is kept reaches back over the window, with no
// great gaps, and ends with the newest.
func TestFastResponsesAreThinnedOut(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 150 * time.Millisecond, 2 * time.Second} {
		t.Run(every.String(), func(t *testing.T) {
			var h history
			var now time.Duration
			for range 3 * window / every {
				now += every
				h.add(received(now))
			}

			ages := h.ages(now)
			if len(ages) > maxSamples || len(ages) < maxSamples/3 {
				t.Errorf("%d samples", len(ages))
			}
			if ages[0] < window/2 || ages[0] > window {
				t.Errorf("the oldest has age %v", ages[0])
			}
			if newest := ages[len(ages)-1]; newest != 0 {
				t.Errorf("the newest has age %v", newest)
			}
			for i := 1; i < len(ages); i++ {
				if gap := ages[i-1] - ages[i]; gap > window/8 {
					t.Errorf("a gap of %v before age %v", gap, ages[i])
				}
			}
		})
	}
}

func TestSampleAgreed(t *testing.T) {
	s := sample{sent: elapsed.Reading{Min: time.Hour, Max: 2 * time.Hour}}
	after := func(low, high time.Duration) elapsed.Reading {
		return elapsed.Reading{Min: s.sent.Min + low, Max: s.sent.Max + high}
	}
	for _, tc := range []struct {
		name string
		now  elapsed.Reading
		want bool
	}{
		{"at once", s.sent, true},
		{"both clocks the same", after(time.Hour, time.Hour), true},
		{"noise", after(time.Second, time.Second+40*time.Millisecond), true},
		{"a suspend", after(time.Second, 2*time.Second), false},
		{"a short suspend", after(100*time.Millisecond, 170*time.Millisecond), false},
		{"slewed by a twelfth", after(9*time.Second, 9750*time.Millisecond), true},
		{"slewed by a twelfth for long", after(time.Minute, 65*time.Second), false},
		{"a second among many", after(time.Minute, 61*time.Second), false},
		{"a step by hours", after(time.Second, 3*time.Hour), false},
		{"drift in an hour", after(time.Hour, time.Hour+time.Second), true},
		{"more than drift in an hour", after(time.Hour, time.Hour+2*time.Second), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := s.agreed(tc.now, DefaultDriftPPM); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
