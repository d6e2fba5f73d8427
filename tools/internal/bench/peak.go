package bench

import (
	"runtime"
	"sync"
	"time"
)

// watchPeak watches how much memory of the system Go's runtime uses for heap and stacks, until the function that it returns is
// called, which gives the most that there was. It begins with what is left after a collection.
func watchPeak() (stop func() int64) {
	runtime.GC()
	done := make(chan struct{})
	var running sync.WaitGroup
	var peak int64
	running.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapInuse+m.StackInuse))
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() int64 {
		close(done)
		running.Wait()
		return peak
	}
}
