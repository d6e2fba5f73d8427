package applied_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/aws/jsii-runtime-go"
	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/rie"
)

// server is the one database of all tests.
var server = sync.OnceValues(func() (*dynamotest.Server, error) { return dynamotest.Start(context.Background()) })

// The runtime behind CDK takes one call at a time, so no test here may be parallel.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	err := rie.Clean()
	if s, startErr := server(); startErr == nil {
		err = errors.Join(err, s.Close())
	}
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// database returns the server. If no server can be had, it skips the test. With
// DYNAMODB_REQUIRED=1, it fails the test instead.
func database(t testing.TB) *dynamotest.Server {
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
