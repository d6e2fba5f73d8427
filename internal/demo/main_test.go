package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const testTTL = 3 * time.Second

// server is the one database of all tests of the package; it starts with the first that needs it.
var server = sync.OnceValues(func() (*dynamotest.Server, error) { return dynamotest.Start(context.Background()) })

func TestMain(m *testing.M) {
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

func startServer(t *testing.T) *dynamotest.Server {
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

func newStore(t *testing.T, client dynamolease.Client, table string, optFns ...func(*dynamolease.Options)) *dynamolease.Store {
	t.Helper()
	store, err := dynamolease.New(client, table, optFns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
