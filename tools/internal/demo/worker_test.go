package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A fleet is some workers in this process, in virtual time, on a table and an input of their own.
type fleet struct {
	t       *testing.T
	server  *dynamotest.Server
	table   string
	dir     string // of the records
	input   fs.FS
	watch   *worker // has a connection of its own, and does not run
	running sync.WaitGroup
	names   []string
}

// inBubble runs f with a fleet, in virtual time.
func inBubble(t *testing.T, f func(t *testing.T, fleet *fleet)) {
	server := startServer(t)
	table, dir := server.Table(t), t.TempDir()
	input := fstest.MapFS{}
	for i := range 12 * Partitions {
		input[fmt.Sprintf("f%d.go", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("word ", i))}
	}
	synctest.Test(t, func(t *testing.T) {
		fl := &fleet{t: t, server: server, table: table, dir: dir, input: input}
		fl.watch, _ = fl.worker("watch")
		f(t, fl)
		fl.running.Wait()
	})
}

// worker makes a worker and the way by which it reaches the database.
func (f *fleet) worker(name string) (*worker, *dynamotest.Transport) {
	f.t.Helper()
	transport := f.server.VirtualTransport()
	f.t.Cleanup(transport.Close)
	started := time.Now()
	store := newStore(f.t, transport.Client(), f.table, func(o *dynamolease.Options) {
		o.Elapsed = func() (atLeast, atMost time.Duration) { d := time.Since(started); return d, d }
		o.Logger = slog.New(slog.DiscardHandler)
	})
	record, err := openRecorder(f.record(name))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = record.close() })
	files, err := goFiles(f.input)
	if err != nil {
		f.t.Fatal(err)
	}
	return &worker{
		name: name, pace: 500 * time.Millisecond, store: store, results: &results{transport.Client(), f.table},
		record: record, clock: newClock(), input: f.input, parts: split(files),
	}, transport
}

func (f *fleet) record(name string) string { return filepath.Join(f.dir, name+".jsonl") }

// run runs a worker until stop is called.
func (f *fleet) run(w *worker) (stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(f.t.Context())
	f.names = append(f.names, w.name)
	f.running.Go(func() {
		if err := w.run(ctx, testTTL, slog.New(slog.DiscardHandler)); err != nil {
			f.t.Errorf("%s ended: %v", w.name, err)
		}
	})
	return cancel
}

// verdict waits until all is counted, and judges.
func (f *fleet) verdict() Verdict {
	f.t.Helper()
	facts := facts{ttl: testTTL}
	for complete := 0; complete < Partitions; time.Sleep(time.Second) { // in virtual time
		var err error
		if facts.results, err = f.watch.results.read(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
		complete = 0
		for _, res := range facts.results {
			if res.complete {
				complete++
			}
		}
	}
	var err error
	if facts.expected, err = plainCount(f.t.Context(), f.input); err != nil {
		f.t.Fatal(err)
	}
	for _, name := range f.names {
		events, err := readRecord(f.record(name))
		if err != nil {
			f.t.Fatal(err)
		}
		facts.events = append(facts.events, events...)
	}
	return judge(facts)
}

// wantOnce checks what must hold of any run.
func wantOnce(t *testing.T, v Verdict) {
	t.Helper()
	if v.Words != v.Expected || v.Partitions != Partitions || v.Overlaps != 0 || v.Duplicates != 0 {
		t.Errorf("verdict: %v\nproblems: %q", v, v.Problems)
	}
}

func TestWorkerHandsOverInTheMiddle(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		first, _ := f.worker("w1")
		second, _ := f.worker("w2")
		stopFirst, stopSecond := f.run(first), f.run(second)
		time.Sleep(5 * time.Second)
		stopFirst()
		v := f.verdict()
		stopSecond()
		wantOnce(t, v)
		if v.Resumed == 0 || v.Takeovers != 0 {
			t.Errorf("resumed = %d, takeovers = %d, want some and none", v.Resumed, v.Takeovers)
		}
	})
}

// A worker that cannot reach the database for some time loses its partitions to another one, which
// goes on from the checkpoints. What it still tries to add when it can reach it again is turned
// away.
func TestWorkerIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		first, connection := f.worker("w1")
		second, _ := f.worker("w2")
		stopFirst, stopSecond := f.run(first), f.run(second)
		time.Sleep(5 * time.Second)
		heal := connection.Every("", dynamotest.LoseRequest())
		time.Sleep(testTTL + 4*time.Second) // a transaction is tried for longer than that
		heal()
		v := f.verdict()
		stopFirst()
		stopSecond()
		wantOnce(t, v)
		if v.Takeovers == 0 || v.Rescued == 0 || v.Refused == 0 {
			t.Errorf("takeovers = %d, rescued = %d, refused = %d, want some of each", v.Takeovers, v.Rescued, v.Refused)
		}
	})
}

func TestHandlerFailureEndsTheWorker(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		w, _ := f.worker("w1")
		w.parts[7] = append(w.parts[7], "missing.go")
		err := w.run(t.Context(), testTTL, slog.New(slog.DiscardHandler))
		if !errors.Is(err, errHandler) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("run = %v, want a failure of the handler", err)
		}
	})
}

func TestReadCheckpoint(t *testing.T) {
	for text, want := range map[string]checkpoint{
		"":                            {},
		`{"next":5,"complete":false}`: {Next: 5},
		`{"next":0,"complete":true}`:  {Complete: true},
	} {
		var data []byte
		if text != "" {
			data = []byte(text)
		}
		if got, err := readCheckpoint(data); got != want || err != nil {
			t.Errorf("readCheckpoint(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := readCheckpoint([]byte("5")); err == nil {
		t.Errorf("readCheckpoint = %v, want an error", got)
	}
}
