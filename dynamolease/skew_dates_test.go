package dynamolease_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A dater makes the Date header of the n-th response.
type dater func(n int, now time.Time) string

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// dates sets what the Date headers of a node's responses say, counted from 0.
func (n *node) dates(date dater) {
	count := -1
	n.Path.Date(func(now time.Time) string {
		count++
		return date(count, now)
	})
}

// onAverage lies in one response of five, from the second on.
func onAverage(lie func(r *rand.Rand, now time.Time) string) dater {
	return func(n int, now time.Time) string {
		r := rand.New(rand.NewPCG(1, uint64(n))) // nodes of tests beside each other share none
		if n > 0 && r.IntN(5) == 0 {
			return lie(r, now)
		}
		return httpDate(now)
	}
}

// firstOnly lies in the first response.
func firstOnly(lie func(now time.Time) string) dater {
	return func(n int, now time.Time) string {
		if n == 0 {
			return lie(now)
		}
		return httpDate(now)
	}
}

// from has all dates be this from the n-th response on.
func from(n int, date string) dater {
	return func(i int, now time.Time) string {
		if i >= n {
			return date
		}
		return httpDate(now)
	}
}

// Whatever the Date headers of some responses say, exclusion holds, and an expired lease can be taken.
func TestDates(t *testing.T) {
	const hours = 3 * time.Hour
	for name, date := range map[string]dater{
		"stale by a second":      func(_ int, now time.Time) string { return httpDate(now.Add(-time.Second)) },
		"some stale by a second": onAverage(func(_ *rand.Rand, now time.Time) string { return httpDate(now.Add(-time.Second)) }),
		"some missing":           onAverage(func(*rand.Rand, time.Time) string { return "" }),
		"some garbled":           onAverage(func(*rand.Rand, time.Time) string { return "yesterday" }),
		"some ahead by hours":    onAverage(func(_ *rand.Rand, now time.Time) string { return httpDate(now.Add(hours)) }),
		"some behind by hours":   onAverage(func(_ *rand.Rand, now time.Time) string { return httpDate(now.Add(-hours)) }),
		"some ahead by seconds":  onAverage(func(_ *rand.Rand, now time.Time) string { return httpDate(now.Add(8 * time.Second)) }),
		"some behind by seconds": onAverage(func(_ *rand.Rand, now time.Time) string { return httpDate(now.Add(-8 * time.Second)) }),
		"some anywhere": onAverage(func(r *rand.Rand, now time.Time) string {
			return httpDate(now.Add(time.Duration(r.Int64N(int64(40*time.Second))) - 20*time.Second))
		}),
		"missing from the tenth on": from(10, ""),
		"garbled from the third on": from(3, "yesterday"),
		"the first missing":         firstOnly(func(time.Time) string { return "" }),
		"the first ahead by hours":  firstOnly(func(now time.Time) string { return httpDate(now.Add(hours)) }),
		"the first behind by hours": firstOnly(func(now time.Time) string { return httpDate(now.Add(-hours)) }),
	} {
		for _, liar := range []string{"the holder's", "the rival's"} {
			t.Run("LS32/"+name+"/"+liar, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.coldNode(), w.coldNode()
					if liar == "the holder's" {
						a.dates(date)
					} else {
						b.dates(date)
					}
					w.holdAndTake(a, b, func(int) {})
				})
			})
		}
	}
}

// The wall clock of every node is wrong by hours, as the store sees it, and the first response to one has no usable
// Date: that is no reason to believe the wall clock.
func TestDatesAndWrongWallClocks(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"ahead": 3 * time.Hour, "behind": -3 * time.Hour} {
		for _, first := range []struct{ name, date string }{{"missing", ""}, {"garbled", "yesterday"}} {
			t.Run("LS32/"+name+"/"+first.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.coldNode(), w.coldNode()
					store := func(now time.Time) time.Time { return now.Add(-wrong) }
					a.dates(func(_ int, now time.Time) string { return httpDate(store(now)) })
					b.dates(func(n int, now time.Time) string {
						if n == 0 {
							return first.date
						}
						return httpDate(store(now))
					})
					w.holdAndTake(a, b, func(int) {})
				})
			})
		}
	}
}

// The front end of the holder, and no other, keeps its Date for a second; the holder calls at the end of a second, each
// time, where that makes the most of it. A rival that knows the time exactly does not take over while the holder believes.
func TestDatesOfASlowFrontEnd(t *testing.T) {
	t.Run("LS32", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.coldNode(), w.node()
			a.dates(func(_ int, now time.Time) string { return httpDate(now.Add(-time.Second)) })
			for range 3 {
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1999 * time.Millisecond)))
				a.members()
			}
			lease := a.acquire(1, "a")
			for lease.Remaining() > 0 {
				if taken, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil || acquired {
					w.Fatalf("taken with %v left: %+v, %v", lease.Remaining(), taken, err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			w.expire()
			b.acquire(1, "b")
		})
	})
}

// A cache has answered: its Date tells nothing.
func TestDatesOfACache(t *testing.T) {
	t.Run("LS32", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.node(), w.node()
			b.owners()
			b.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
				response, err := send(req)
				if err == nil {
					response.Header.Set("Age", "1")
					response.Header.Set("Date", httpDate(time.Now().Add(3*time.Hour)))
				}
				return response, err
			})
			w.holdAndTake(a, b, func(int) {})
		})
	})
}

// A node whose clock is so wrong that the store refuses its signature signs the next request with the store's time.
func TestSignsWithTheStoresTime(t *testing.T) {
	for _, op := range operations {
		t.Run("LS32/"+op.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.faultyNode(op.each)
				op.prepare(n)
				const wrong = 3 * time.Hour
				var signed []time.Time
				n.Path.Date(func(now time.Time) string {
					if len(signed) == 1 { // only the refusal, so that the bounds of the store's time stay right
						now = now.Add(wrong)
					}
					return httpDate(now)
				})
				n.Path.Every(op.request, func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					at, err := time.Parse("20060102T150405Z", req.Header.Get("X-Amz-Date"))
					if err != nil {
						w.Error(err)
					}
					signed = append(signed, at)
					if len(signed) == 1 {
						return dynamotest.Reply(400, "InvalidSignatureException", "Signature expired")(req, send)
					}
					return send(req)
				})
				if err := op.call(w.Context(), n); err != nil {
					w.Fatal(err)
				}
				if len(signed) != 2+op.then || signed[1].Sub(time.Now().Add(wrong)).Abs() > 2*time.Second {
					w.Errorf("signed at %v, want a second at %v", signed, time.Now().Add(wrong))
				}
			})
		})
	}
}
