package bench

import (
	"runtime"
	"sync"
	"time"
)

// watchPeak collects garbage, and then watches the memory that Go's runtime uses for heap and
// stacks. The returned function ends that and returns the peak.
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
