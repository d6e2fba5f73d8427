//go:build !unix

package main

import "os"

// notifyResize tells nothing: there is no signal for it here, and each look draws anew.
func notifyResize() (resized <-chan os.Signal, stop func()) { return nil, func() {} }
