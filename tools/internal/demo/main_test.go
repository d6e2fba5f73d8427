package demo

import (
	"os"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const testTTL = 3 * time.Second

func TestMain(m *testing.M) {
	os.Exit(testkit.Main(m))
}

func startServer(t testing.TB) *dynamotest.Server {
	t.Helper()
	return testkit.Server(t)
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
