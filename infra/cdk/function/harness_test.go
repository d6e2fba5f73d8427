package function_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/rie"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

func TestMain(m *testing.M) {
	code := testkit.Main(m)
	if err := rie.Clean(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// A world is a table, and the path by which the function reaches it.
type world struct {
	*testing.T
	table string
	path  *dynamotest.Transport
	url   string
	rows
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	server := testkit.Server(t)
	w := &world{T: t, table: server.Table(t), path: server.Transport()}
	w.rows = rows{t, server.Client(), w.table}
	front := httptest.NewServer(proxy(t, server.Endpoint(), w.path))
	w.url = front.URL
	t.Cleanup(func() {
		w.path.Close() // ends the requests that hang
		front.Close()
	})
	return w
}

// proxy passes requests on to the database by the path, which can inject faults.
func proxy(t *testing.T, endpoint string, path http.RoundTripper) http.Handler {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Transport: path,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		// The panic resets the connection.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// start starts the function. env is name and value in turn.
func (w *world) start(timeout time.Duration, env ...string) *process {
	w.Helper()
	f := rie.Function{
		Bootstrap: rie.Build(w),
		Timeout:   timeout,
		Env:       map[string]string{"AWS_ENDPOINT_URL": w.url, "DYNAMOLEASE_TABLE": w.table},
	}
	for i := 0; i < len(env); i += 2 {
		f.Env[env[i]] = env[i+1]
	}
	return &process{w, rie.Start(w.Context(), w, f)}
}

// A process is a running function.
type process struct {
	w *world
	*rie.Process
}

// A run is the answer of the function: the figures of the run, or its error.
type run struct {
	Table                              string
	Scanned, Due, Deleted, Raced, Kept int
	Unreadable                         int
	Resumed, Complete                  bool
	Stopped                            string
	ErrorMessage, ErrorType            string
}

// invoke expects an answer of the function itself.
func (p *process) invoke() run {
	p.w.Helper()
	body := p.invokeRaw(http.StatusOK)
	var r run
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		p.w.Fatalf("%v: %s", err, body)
	}
	return r
}

// invokeAfterTheEnd invokes the function after its process has ended. Until the emulator has
// cleaned up, it rejects invocations and says so. Those are repeated.
func (p *process) invokeAfterTheEnd() run {
	p.w.Helper()
	ctx, cancel := context.WithTimeout(p.w.Context(), patient)
	defer cancel()
	for {
		body, status, err := p.Invoke(ctx, nil)
		if err == nil && strings.Contains(string(body), "Sandbox.Failure") {
			continue
		}
		var r run
		if err != nil || status != http.StatusOK || json.Unmarshal(body, &r) != nil {
			p.w.Fatalf("invoke: %d, %v: %s", status, err, body)
		}
		return r
	}
}

func (p *process) invokeRaw(want int) string {
	p.w.Helper()
	body, status, err := p.Invoke(p.w.Context(), nil)
	if err != nil || status != want {
		p.w.Fatalf("invoke: %d, %v: %s", status, err, body)
	}
	return string(body)
}

// begin invokes the function; the result comes later.
func (p *process) begin() <-chan result {
	done := make(chan result, 1)
	ctx, cancel := context.WithCancel(p.w.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		body, status, err := p.Invoke(ctx, nil)
		done <- result{string(body), status, err}
	}()
	p.w.Cleanup(func() { cancel(); <-ended })
	return done
}

type result struct {
	body   string
	status int
	err    error
}

// line waits for a line of the log and decodes it.
func (p *process) line(text string) map[string]any {
	p.w.Helper()
	ctx, cancel := context.WithTimeout(p.w.Context(), patient)
	defer cancel()
	line, err := p.Await(ctx, text)
	if err != nil {
		p.w.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		p.w.Fatalf("%v: %s", err, line)
	}
	return fields
}

// lines counts the lines of the log that contain the text.
func (p *process) lines(text string) int { return strings.Count(p.Logs(), text) }
