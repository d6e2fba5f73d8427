package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// shared is the server of all tests that need no server of their own, and startErr why there is none.
var (
	shared   *dynamotest.Server
	startErr error
)

func TestMain(m *testing.M) {
	if os.Getenv(dieEnv) != "" {
		startAndDie()
	}
	goleak.VerifyTestMain(suite{m})
}

// suite closes the shared server before leaked goroutines are looked for.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	shared, startErr = dynamotest.Start(context.Background())
	if startErr != nil {
		if !errors.Is(startErr, dynamotest.ErrUnavailable) || os.Getenv("DYNAMODB_REQUIRED") == "1" {
			fmt.Fprintln(os.Stderr, startErr)
			return 1
		}
		return s.m.Run()
	}
	code := s.m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// server returns the shared server, or skips the test if there is none.
func server(t *testing.T) *dynamotest.Server {
	t.Helper()
	if startErr != nil {
		t.Skip(startErr)
	}
	return shared
}

// own starts a server for one test only.
func own(t *testing.T, optFns ...func(*dynamotest.Options)) *dynamotest.Server {
	t.Helper()
	server(t) // skips if there is none to be had
	s, err := dynamotest.Start(t.Context(), optFns...)
	if errors.Is(err, dynamotest.ErrUnavailable) {
		t.Skip(err) // only possible if the shared server is one that already ran
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ownChild is own, for a test that kills the server.
func ownChild(t *testing.T, optFns ...func(*dynamotest.Options)) *dynamotest.Server {
	t.Helper()
	t.Setenv("DYNAMODB_ENDPOINT", "")
	t.Setenv("DYNAMOLEASE_TEST_AWS", "")
	return own(t, optFns...)
}
