// Command succeeds is a suite that succeeds.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println("succeeds with seed", os.Getenv("PROOF_SEED"))
}
