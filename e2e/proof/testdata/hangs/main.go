// Command hangs is a suite that hangs.
package main

import (
	"fmt"
	"time"
)

func main() {
	fmt.Println("hangs now")
	time.Sleep(time.Minute)
}
