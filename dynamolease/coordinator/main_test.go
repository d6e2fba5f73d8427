package coordinator_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// server is the one database of all tests of the package; it starts with the first that needs it.
var server = sync.OnceValues(func() (*dynamotest.Server, error) { return dynamotest.Start(context.Background()) })

// long has the tests of large fleets take the minutes that they need: COORDINATOR_TEST_LONG=1. Without it they look at
// fewer rounds and fewer leases, and with -short at the fewest.
var long = os.Getenv("COORDINATOR_TEST_LONG") != ""

// TestMain is also the main of the child processes that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv(childTable) != "" {
		os.Exit(childMain())
	}
	code := m.Run()
	if s, err := server(); err == nil {
		if err := s.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "close the server:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func startServer(t testing.TB) *dynamotest.Server {
	t.Helper()
	s, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
