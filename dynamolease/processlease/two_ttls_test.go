package processlease_test

import (
	"testing"
	"time"
)

// Two authorities with different ttls renew for one owner: what the one believes in, the other does not cut short.
func TestShorterTTLForTheSameOwner(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		long, short, rival := w.bootWith(3*ttl), w.bootWith(time.Second), w.bootWith(time.Second)
		short.owner = long.owner
		m := long.manage()
		short.acquire()
		o := rival.observe()
		time.Sleep(5 * time.Second)
		if out := rival.tryTakeover(o); out.Acquired && m.Valid() {
			w.Errorf("taken over while valid for another %v", m.Remaining())
		}
	})
}
