package processlease_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// Dating that is broken off anywhere leaves nothing behind that a later takeover does not find.
func TestDatingBrokenOff(t *testing.T) {
	for broken := range 8 {
		inVirtualTime(t, func(w *world) {
			keep := func(o *processlease.Options) { o.FenceRetention = processlease.KeepFences }
			boots := []*boot{w.boot(keep)}
			boots[0].acquire()
			next := func(optFns ...func(*processlease.Options)) *boot {
				b := w.boot(optFns...)
				o := b.watched()
				boots = append(boots, b)
				if len(boots) == 6 {
					var sent atomic.Int64
					b.Path.Every("UpdateItem", func(r *http.Request, send dynamotest.Send) (*http.Response, error) {
						if sent.Add(1) > int64(broken) {
							return dynamotest.AccessDenied()(r, send)
						}
						return send(r)
					})
				}
				b.tryTakeover(o)
				b.authority.Close()
				return b
			}
			for range 4 {
				next(keep)
			}
			next() // supersedes term 5, and gets no further than it can
			next()
			if got := dated(w, boots, 90*24*time.Hour); got != "23456" {
				w.Errorf("broken off after %d: terms %s have a ttl, want 2 to 6", broken, got)
			}
		})
	}
}

// A takeover and a Close at the same time: the one waits for the dating that the other has begun, or it is left to the
// next takeover.
func TestCloseRacesTakeover(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		b.takeOver()
		o := c.watched()
		c.Path.Next("UpdateItem", dynamotest.Delay(time.Second)) // the dating
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			time.Sleep(time.Millisecond)
			c.authority.Close()
		}()
		c.tryTakeover(o)
		<-closed
	})
}
