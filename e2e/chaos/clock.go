//go:build linux

package chaos

import (
	"syscall"
	"time"
	"unsafe"
)

// An instant is a reading of CLOCK_BOOTTIME, in nanoseconds.
type instant int64

func (i instant) add(d time.Duration) instant { return i + instant(d) }

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

const clockBoottime = 7 // syscall does not name it

// now reads the clock. All processes of the machine share it, and it goes on while a process is
// stopped.
func now() instant {
	var ts syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&ts)), 0) // cannot fail
	return instant(ts.Nano())
}
