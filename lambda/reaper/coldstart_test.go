package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkColdStart is the time from the start of the function's process until it first asks the Runtime API for work.
func BenchmarkColdStart(b *testing.B) {
	bootstrap := filepath.Join(b.TempDir(), "bootstrap")
	build := exec.CommandContext(b.Context(), "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags=-s -w", "-o", bootstrap, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build bootstrap: %v: %s", err, out)
	}
	api := newRuntimeAPI()
	defer api.Close()
	for b.Loop() {
		ctx, end := context.WithCancel(b.Context())
		function := exec.CommandContext(ctx, bootstrap)
		function.Env = []string{
			tableVariable + "=leases", "AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api.URL, "http://"),
			"AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b",
		}
		if err := function.Start(); err != nil {
			b.Fatal(err)
		}
		<-api.polled
		b.StopTimer()
		end()
		_ = function.Wait() // it was killed
		b.StartTimer()
	}
}

// A runtimeAPI is Lambda's, with no work to give out.
type runtimeAPI struct {
	*httptest.Server
	polled chan struct{}
}

func newRuntimeAPI() *runtimeAPI {
	api := &runtimeAPI{polled: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2020-01-01/extension/register", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /2020-01-01/extension/event/next", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(_ http.ResponseWriter, r *http.Request) {
		api.polled <- struct{}{}
		<-r.Context().Done()
	})
	api.Server = httptest.NewServer(mux)
	return api
}
