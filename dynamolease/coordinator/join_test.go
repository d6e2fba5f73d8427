package coordinator_test

import (
	"context"
	"strings"
	"testing"

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
