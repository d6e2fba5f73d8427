package request

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// While nothing is agreed, each request goes over a connection of its own. Then a machine of the store's has a wrong clock, and
// the client's kept connection ends there: from the first answer that contradicts on it is so again, until a minute has passed.
func TestUnsettledAsksOverNewConnectionsLS48(t *testing.T) {
	var passed atomic.Int64 // by the node's clock, and the store's
	var liar string         // the connection that ends at the machine
	var connections []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections = append(connections, r.RemoteAddr)
		w.Header().Set("X-Amzn-Requestid", "R")
		now := time.Unix(1_800_000_000, 0).Add(time.Duration(passed.Load()))
		if r.RemoteAddr == liar {
			now = now.Add(time.Hour)
		}
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1",
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
	node := func() elapsed.Reading {
		d := time.Duration(passed.Load())
		return elapsed.Reading{Min: d, Max: d}
	}
	clock := storeclock.New(storeclock.Config{
		Elapsed: node, Slack: storeclock.DefaultSlack, Margin: storeclock.DefaultMargin, DriftPPM: storeclock.DefaultDriftPPM,
	})
	sender := NewSender(clock, node)
	ask := func() {
		t.Helper()
		_, outcome, err := sender.Do(t.Context(), 10*time.Second, func(ctx context.Context, opt func(*dynamodb.Options)) error {
			_, err := client.DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{}, opt)
			return err
		})
		if outcome != Done {
			t.Fatal(err)
		}
		clock.Now()
	}
	opened := func(requests int) int {
		connections = nil
		for range requests {
			ask()
		}
		slices.Sort(connections)
		return len(slices.Compact(connections))
	}
	if got := opened(5); got != 5 {
		t.Errorf("%d connections for the first 5 requests, while nothing is agreed, want 5", got)
	}
	if got := opened(6); got == 6 {
		t.Error("no connection is kept")
	}
	ask()
	liar = connections[len(connections)-1]
	if got := opened(1 + 6); got < 6 {
		t.Errorf("%d connections for 6 requests while the time is contested, want 6", got)
	}
	passed.Add(int64(2 * time.Minute))
	ask()
	if got := opened(6); got == 6 {
		t.Error("no connection is kept afterwards")
	}
}
