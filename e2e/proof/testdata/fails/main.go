// Command fails is a suite that fails.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println("fails now")
	os.Exit(1)
}
