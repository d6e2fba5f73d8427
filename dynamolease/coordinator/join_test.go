package coordinator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// What trying again does not mend at the start is an error at once: the table has other keys, or
// the credentials are not accepted.
func TestRunFailsAtOnceOnWhatWillNotPass(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"other keys": "ValidationException", "no such credentials": "UnrecognizedClientException", "denied": "AccessDeniedException",
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.prepare("a", 1)
				n.path.Every("", dynamotest.Reply(400, code, "on purpose"))
				if err := n.Run(context.Background()); err == nil || !strings.Contains(err.Error(), code) {
					w.Errorf("got %v, want %s", err, code)
				}
				n.store.Close()
			})
		})
	}
}

func TestRunTwiceIsAnError(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.prepare("a", 1)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := n.Run(ctx); err != nil {
			w.Fatal(err)
		}
		if err := n.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "New") {
			w.Errorf("got %v, want an error that says what to do", err)
		}
		n.store.Close()
	})
}

// A node that starts while it has no credentials goes on when they come back, whatever the service says that gives them.
func TestRunWaitsForCredentials(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"cannot be reached": errors.New("on purpose"),
		"denied":            &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "on purpose"},
		"invalid":           &smithy.GenericAPIError{Code: "ValidationError", Message: "on purpose"},
	} {
		t.Run("LS51/B01/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.prepare("a", 1)
				var missing atomic.Bool
				missing.Store(true)
				n.path = w.server.VirtualTransport()
				w.Cleanup(n.path.Close)
				client := n.path.Client(func(o *dynamodb.Options) {
					o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
						if missing.Load() {
							return aws.Credentials{}, cause
						}
						return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
					})
				})
				var err error
				if n.store, err = dynamolease.New(client, w.table, func(o *dynamolease.Options) { o.Elapsed = n.Elapsed }); err != nil {
					w.Fatal(err)
				}
				n.Coordinator, err = coordinator.New(n.store, coordinator.Config{
					Service: w.service, Node: "a", Address: "a:1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler),
					Groups: []coordinator.Group{{Name: w.group, Partitions: 1, Handler: w.watched(n, wait)}},
				})
				if err != nil {
					w.Fatal(err)
				}
				n.begin(context.Background())
				time.Sleep(10 * ttl)
				if got := n.path.Count(""); got != 0 {
					w.Errorf("%d requests without credentials", got)
				}
				missing.Store(false)
				w.within(2*round, "working", func() bool { return w.busy() == 1 })
			})
		})
	}
}
