package processlease

import "os"

// ticks reads the processor's time stamp counter. It is not ordered with the instructions around it, which matters by
// some nanoseconds; the end of a stop or of a suspend is.
func ticks() uint64

// ticksTrusted tells whether the kernel itself keeps time by the counter now: it does only while it finds that the counter
// runs at one rate, on all processors together and in every state of theirs.
func ticksTrusted() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && string(source) == "tsc\n"
}
