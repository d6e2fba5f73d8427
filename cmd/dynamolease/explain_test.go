package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// An error names a limit that the user has set, and no other.
func TestTimeouts(t *testing.T) {
	f := newFixture(t).seed()
	url, transport := faultyEndpoint(t)
	transport.Every("", dynamotest.HangAfter())
	for _, command := range onTheTable {
		if command[0] == "reap" {
			continue // its limit is not that of a look
		}
		f.expect(1, "", "it took longer than --timeout allows (300ms)", append(command, "--timeout", "300ms", "--endpoint-url", url)...)
	}
	f.expect(1, "", "it took longer than --wait allows (300ms)", "table", "create", "--wait", "300ms", "--endpoint-url", url)
	p := new(program)
	if text := p.explain(fmt.Errorf("read: %w", context.DeadlineExceeded)); strings.Contains(text, "--timeout") || !strings.Contains(text, "no answer came in time") {
		t.Error(text)
	}
	p.timeout = time.Minute
	limited := &operate.LimitError{Flag: "--timeout", Limit: time.Minute, Err: context.DeadlineExceeded}
	if text := p.explain(fmt.Errorf("read: %w", limited)); text != "read: it took longer than --timeout allows (1m0s): context deadline exceeded" {
		t.Error(text)
	}
}

// Nothing says that an order stands if it was refused.
func TestReleaseThatIsNotAllowed(t *testing.T) {
	f := newFixture(t).seed()
	if err := f.store.Drain(t.Context(), "shop", "gone"); err != nil {
		t.Fatal(err)
	}
	url, transport := faultyEndpoint(t)
	transport.Every("UpdateItem", dynamotest.AccessDenied())
	for _, partition := range []string{"orders 3", "payments 0"} {
		code, out, errs := call(t.Context(), append(append([]string{"release"}, strings.Fields(partition)...), "--yes", "--endpoint-url", url)...)
		if code != 1 || out != "" || strings.Contains(errs, "stands") || !strings.Contains(errs, "these credentials are not allowed to do that") {
			t.Errorf("code %d, %s\n%s", code, out, errs)
		}
	}
	f.unchanged()
}
