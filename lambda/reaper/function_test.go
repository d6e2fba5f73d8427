package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestInvoke(t *testing.T) {
	w := newWorld(t)
	w.dead(0, 3)
	w.dead(3, 5, "rev")
	run, err := w.invoke(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if run.Deleted != 3 || run.Due != 5 || run.Unreadable != 2 || !run.Complete || run.Table != w.settings.table {
		t.Errorf("the run is %+v", run)
	}
	if left := w.left(); left != 2 {
		t.Errorf("%d rows are left", left)
	}
	reaped, metrics, warnings := w.out.lines(t, "reaped"), w.out.lines(t, ""), w.out.lines(t, "unreadable rows")
	if len(reaped) != 1 || len(metrics) != 1 || len(warnings) != 1 {
		t.Fatalf("the lines are %v, %v, %v", reaped, metrics, warnings)
	}
	if metrics[0]["Deleted"] != 3.0 || reaped[0]["run"].(map[string]any)["deleted"] != 3.0 {
		t.Errorf("the lines are %v and %v", reaped[0], metrics[0])
	}
	if first := fmt.Sprint(warnings[0]["first"]); warnings[0]["count"] != 2.0 || !strings.Contains(first, "P#0000000003") || !strings.Contains(first, "P#0000000004") {
		t.Errorf("the warning is %v", warnings[0])
	}
}

// The response has a name for every figure, and no other.
func TestResponse(t *testing.T) {
	text, err := json.Marshal(summarize("leases", dynamolease.ReapReport{Deleted: 3, Stopped: dynamolease.StoppedByLimit}, nil, 2*time.Second))
	const want = `{"table":"leases","scanned":0,"due":0,"deleted":3,"freed":0,"raced":0,"kept":0,"unreadable":0,"unanswered":0,` +
		`"readUnits":0,"writeUnits":0,"throttled":0,"resumed":false,"stopped":"limit","complete":false,"durationMs":2000}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

// A run that fails is an error, and its figures are logged all the same.
func TestInvokeFails(t *testing.T) {
	w := newWorld(t)
	w.dead(0, 3)
	w.path.Every("DeleteItem", dynamotest.AccessDenied())
	run, err := w.invoke(t.Context())
	if setup := new(dynamolease.SetupError); run != nil || !errors.As(err, &setup) {
		t.Errorf("got %+v, %v", run, err)
	}
	reaped, metrics := w.out.lines(t, "reaped"), w.out.lines(t, "")
	if len(reaped) != 1 || reaped[0]["level"] != "ERROR" || reaped[0]["run"].(map[string]any)["due"] != 3.0 {
		t.Errorf("the line of the run is %v", reaped)
	}
	if len(metrics) != 1 || metrics[0]["Due"] != 3.0 || metrics[0]["Complete"] != 0.0 {
		t.Errorf("the line of metrics is %v", metrics)
	}
}

// A run that had to stop is no error once it has read a row.
func TestFailure(t *testing.T) {
	shutdown := fmt.Errorf("reap: %w", errShutdown)
	for name, c := range map[string]struct {
		report dynamolease.ReapReport
		err    error
		fails  bool
	}{
		"complete, nothing there":    {},
		"stopped on the way":         {report: dynamolease.ReapReport{Scanned: 1, Stopped: dynamolease.StoppedByThrottling}},
		"stopped before the first":   {report: dynamolease.ReapReport{Stopped: dynamolease.StoppedByDeadline}, fails: true},
		"shut down on the way":       {report: dynamolease.ReapReport{Scanned: 1, Stopped: dynamolease.StoppedByDeadline}, err: shutdown},
		"shut down before the first": {err: shutdown, fails: true},
		"failed on the way":          {report: dynamolease.ReapReport{Scanned: 1}, err: io.ErrUnexpectedEOF, fails: true},
		"out of time on the way":     {report: dynamolease.ReapReport{Scanned: 1}, err: context.DeadlineExceeded, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			run := summarize("leases", c.report, c.err, 0)
			if err := failure(run, c.err); (err != nil) != c.fails {
				t.Errorf("%+v gives %v", run, err)
			}
		})
	}
}

// What the environment may say is what Reap takes, and no less.
func TestInvokeWithTheLargestSettings(t *testing.T) {
	w := newWorld(t)
	w.settings.reap = dynamolease.ReapConfig{Grace: maxGrace, Segments: maxSegments, Limit: maxLimit}
	if run, err := w.invoke(t.Context()); err != nil || !run.Complete {
		t.Errorf("got %+v, %v", run, err)
	}
	for _, beyond := range []dynamolease.ReapConfig{{Grace: maxGrace + 1}, {Segments: maxSegments + 1}} {
		w.settings.reap = beyond
		if _, err := w.invoke(t.Context()); !errors.As(err, new(*dynamolease.ArgumentError)) {
			t.Errorf("%+v gives %v", beyond, err)
		}
	}
}

// A process that is shut down ends its runs, which say how far they got.
func TestInvokeIsShutDown(t *testing.T) {
	w := newWorld(t)
	w.dead(0, 3)
	door := dynamotest.NewDoor()
	w.path.Every("DeleteItem", door.Hold)
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-door.Arrived()
		stop(errShutdown)
	}()
	run, err := w.invoke(ctx)
	if err != nil || run.Stopped != stoppedByShutdown || run.Complete || run.Scanned != 3 || run.Deleted != 0 {
		t.Errorf("got %+v, %v", run, err)
	}
}

// Lambda may invoke several times at once in one process.
func TestInvokeManyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.dead(0, 30)
	const runs = 4
	var waiting sync.WaitGroup
	waiting.Add(runs)
	w.path.Every("Scan", dynamotest.Around(func() { waiting.Done(); waiting.Wait() }, func() {}))
	var all sync.WaitGroup
	var deleted atomic.Int64
	for range runs {
		all.Go(func() {
			run, err := w.invoke(t.Context())
			if err != nil || !run.Complete {
				t.Errorf("got %+v, %v", run, err)
				return
			}
			deleted.Add(int64(run.Deleted))
		})
	}
	all.Wait()
	if left := w.left(); left != 0 || deleted.Load() != 30 {
		t.Errorf("%d rows are deleted, %d are left", deleted.Load(), left)
	}
	if reaped, metrics := w.out.lines(t, "reaped"), w.out.lines(t, ""); len(reaped) != runs || len(metrics) != runs {
		t.Errorf("there are %d lines of runs and %d of metrics", len(reaped), len(metrics))
	}
}

// A function that is starting goes nowhere: neither to the database nor for credentials.
func TestStartMakesNoRequest(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, server.URL)
	}
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	f := newFunction(t.Context(), variables{tableVariable: "leases"}.get, slog.New(slog.DiscardHandler), io.Discard)
	if f.problem != nil || f.store == nil || requests.Load() != 0 {
		t.Errorf("after %d requests there is %+v", requests.Load(), f)
	}
}

// What is wrong with the configuration is the error of each invocation.
func TestBadConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		profile string
		env     variables
		want    string
	}{
		"of the function": {env: variables{}, want: tableVariable},
		"of AWS":          {profile: "nobody", env: variables{tableVariable: "leases"}, want: "load the AWS configuration"},
		"of the store":    {env: variables{tableVariable: strings.Replace(anARN, "leases", strings.Repeat("x", 255), 1)}, want: tableVariable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_PROFILE", c.profile)
			var out output
			f := newFunction(t.Context(), c.env.get, slog.New(slog.NewJSONHandler(&out, nil)), &out)
			for range 2 {
				_, err := f.invoke(t.Context())
				if !errors.As(err, new(configurationError)) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
			}
			if lines := out.lines(t, "bad configuration"); len(lines) != 2 || lines[0]["level"] != "ERROR" {
				t.Errorf("the lines are %v", lines)
			}
		})
	}
}
