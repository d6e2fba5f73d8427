// Command panics is a suite that panics.
package main

func main() {
	panic("panics now")
}
