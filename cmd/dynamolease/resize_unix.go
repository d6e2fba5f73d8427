//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize tells when the terminal has another size, until stop is called.
func notifyResize() (resized <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	return signals, func() { signal.Stop(signals) }
}
