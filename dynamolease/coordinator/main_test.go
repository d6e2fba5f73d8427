package coordinator_test

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// long has the tests of large fleets take the minutes that they need: COORDINATOR_TEST_LONG=1.
// Without it they look at fewer rounds and fewer leases, and with -short at the fewest.
var long = os.Getenv("COORDINATOR_TEST_LONG") != ""

// TestMain is also the main of the child processes that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv(childTable) != "" {
		os.Exit(childMain())
	}
	os.Exit(testkit.Main(m))
}

func startServer(t testing.TB) *dynamotest.Server {
	t.Helper()
	return testkit.Server(t)
}
