// Package clock has nothing to do with leases.
package clock

// Later is true.
func Later() bool { return true }
