package elapsed

import (
	"syscall"
	"time"
	"unsafe"
)

// The clocks of Linux that syscall does not name.
const (
	clockMonotonicRaw = 4
	clockBoottime     = 7
)

// bootClock returns CLOCK_BOOTTIME, which goes on while the machine is
// suspended, or nil where the kernel or a sandbox refuses it.
func bootClock() func() time.Duration { return kernelClock(clockBoottime) }

// rawClock returns CLOCK_MONOTONIC_RAW, which no time service slews, or nil.
func rawClock() func() time.Duration { return kernelClock(clockMonotonicRaw) }

func kernelClock(id uintptr) func() time.Duration {
	if _, ok := readKernel(id); !ok {
		return nil
	}
	return func() time.Duration {
		now, _ := readKernel(id) // a clock that could be read once does not fail later
		return now
	}
}

func readKernel(id uintptr) (time.Duration, bool) {
	var ts syscall.Timespec
	// Raw, as the call never blocks and needs no help from the scheduler.
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
