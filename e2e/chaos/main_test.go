//go:build linux

package chaos

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the main of the processes that the tests start.
func TestMain(m *testing.M) {
	if env := os.Getenv(taskEnv); env != "" {
		if err := child(env); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
