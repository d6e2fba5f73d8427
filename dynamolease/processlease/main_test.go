package processlease_test

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// TestMain is also the main of the child processes that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv(childTable) != "" {
		os.Exit(childMain())
	}
	os.Exit(testkit.Main(m))
}
