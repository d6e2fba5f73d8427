// Package testkit is what the tests of several packages have in common.
package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// server is the one database of all tests of a package; it starts with the first that needs it.
var server = sync.OnceValues(func() (*dynamotest.Server, error) { return dynamotest.Start(context.Background()) })

// Server is the database of the package's tests. Where there is none to be had, the test is skipped, unless
// DYNAMODB_REQUIRED is 1: then it fails.
func Server(t testing.TB) *dynamotest.Server {
	t.Helper()
	s, err := server()
	if errors.Is(err, dynamotest.ErrUnavailable) && os.Getenv("DYNAMODB_REQUIRED") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Main runs a package's tests, closes its database, and expects that no goroutine is left. It returns the exit code.
func Main(m *testing.M) int {
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
	return code
}
