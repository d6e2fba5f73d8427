// Package builders compares the store's own expressions and decoder with those of the SDK, by
// benchmarks and by what each of them accepts.
package builders
