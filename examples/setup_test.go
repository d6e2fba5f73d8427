package examples_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// client is a client of the database that the examples use. Your own program has
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	...
//	client := dynamodb.NewFromConfig(cfg)
var client *dynamodb.Client

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx := context.Background()
	db, err := dynamotest.Start(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer db.Close()
	client = db.Client()
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := store.CreateTable(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
