package elapsed

import (
	"syscall"
	"time"
	"unsafe"
)

// clockBoottime is CLOCK_BOOTTIME, which syscall does not name.
const clockBoottime = 7

// bootClock returns CLOCK_BOOTTIME, which goes on while the machine is
// suspended, or nil where the kernel or a sandbox refuses it.
func bootClock() func() time.Duration {
	if _, ok := readBoot(); !ok {
		return nil
	}
	return func() time.Duration {
		now, _ := readBoot() // a clock that could be read once does not fail later
		return now
	}
}

func readBoot() (time.Duration, bool) {
	var ts syscall.Timespec
	// Raw, as the call never blocks and needs no help from the scheduler.
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
