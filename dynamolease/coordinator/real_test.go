package coordinator_test

import (
	"syscall"
	"time"
)

// realNow is the machine's time even inside a bubble, for reports of how long tests took.
func realNow() time.Time {
	var tv syscall.Timeval
	if err := syscall.Gettimeofday(&tv); err != nil {
		return time.Now()
	}
	return time.Unix(tv.Unix())
}
