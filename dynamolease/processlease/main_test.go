package processlease_test

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
