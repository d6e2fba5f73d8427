package coordinator_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A throttle lets so many requests a second through, and as many at once as come together in a second.
type throttle struct {
	rate float64

	mu            sync.Mutex
	tokens        float64
	latest        time.Time
	sent, through int
}

func (l *throttle) limit(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	if !l.take() {
		return dynamotest.Throttle()(req, send)
	}
	return send(req)
}

func (l *throttle) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tokens, l.latest = min(l.rate, l.tokens+l.rate*now.Sub(l.latest).Seconds()), now
	l.sent++
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	l.through++
	return true
}

// A store that lets 3 N / T requests a second through, and no more, loses a fleet no session, and gets at most three times as many
// requests: in its steady state, in a hand-over of 75 partitions and in a cold start of 100.
func TestThrottledLS57(t *testing.T) {
	t.Parallel()
	const nodes = 10
	for name, test := range map[string]struct {
		partitions, before int // nodes that run before the store throttles
	}{
		"steady state": {100, nodes}, "hand-over": {150, nodes / 2}, "cold start": {100, 0},
	} {
		for _, ttl := range []time.Duration{ttl, 30 * time.Second} {
			for _, times := range []float64{1, 3} {
				t.Run(fmt.Sprintf("%s/%v/%v times", name, ttl, times), func(t *testing.T) {
					if !long && (times > 1 || ttl > 10*time.Second) {
						t.Skip("runs in the long tests")
					}
					inVirtualTime(t, func(w *world) {
						var fleet []*node
						l := &throttle{rate: times * 3 * nodes / ttl.Seconds()}
						start := func(until int) {
							for i := len(fleet); i < until; i++ {
								fleet = append(fleet, w.prepare(fmt.Sprintf("n%d", i), test.partitions, func(c *coordinator.Config) {
									c.TTL, c.Interval = ttl, ttl/3
								}))
								fleet[i].path.Latency(5 * time.Millisecond)
							}
						}
						start(test.before)
						for _, n := range fleet {
							n.begin(context.Background())
						}
						time.Sleep(6 * ttl)
						start(nodes)
						for _, n := range fleet {
							n.path.Every("", l.limit)
						}
						for _, n := range fleet[test.before:] {
							n.begin(context.Background())
						}
						w.throttled(l, fleet, 12*ttl)
						l.mu.Lock()
						defer l.mu.Unlock()
						w.Logf("%s: %d sent, %d let through, %d partitions worked", name, l.sent, l.through, w.busy())
					})
				})
			}
		}
	}
}

// throttled lets time pass, and expects of a fleet what it must keep to.
func (w *world) throttled(l *throttle, fleet []*node, d time.Duration) {
	w.Helper()
	sessions, look := make(map[string]string), w.look()
	for began := time.Now(); time.Since(began) < d; time.Sleep(interval / 3) {
		members, err := look.Members(context.Background(), w.service)
		if err != nil {
			w.Fatal(err)
		}
		for _, m := range members {
			if before := sessions[m.Node]; before != "" && before != m.Session {
				w.Errorf("%s lost its session after %v", m.Node, time.Since(began))
			}
			sessions[m.Node] = m.Session
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := 3 * l.rate * d.Seconds(); float64(l.sent) > most {
		w.Errorf("%d sent, want %.0f at most", l.sent, most)
	}
	members, err := look.Members(context.Background(), w.service)
	if err != nil || len(members) < len(sessions) {
		w.Errorf("%d members of %d, %v", len(members), len(sessions), err)
	}
}
