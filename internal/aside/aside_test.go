package aside_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/internal/aside"
)

// CO18: who adds a call waits for none, and the queue keeps order, bounds and counts.
func TestQueueCO18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		var missed []int64
		var panics []any
		q := aside.New(3, func(n int64) { missed = append(missed, n) }, func(v any) { panics = append(panics, v) })
		release := make(chan struct{})
		q.Add(func() { <-release })
		synctest.Wait()
		began := time.Now()
		for i := range 5 {
			q.Add(func() {
				if got = append(got, i); i == 1 {
					panic("one")
				}
			})
		}
		if took := time.Since(began); took != 0 || q.Dropped() != 2 {
			t.Errorf("adding took %v, %d dropped", took, q.Dropped())
		}
		if q.Flush(time.Second) || time.Since(began) != time.Second {
			t.Errorf("flushed after %v, though a call hangs", time.Since(began))
		}
		close(release)
		if !q.Flush(time.Second) || !slices.Equal(got, []int{0, 1, 2}) || !slices.Equal(missed, []int64{2}) || !slices.Equal(panics, []any{"one"}) {
			t.Errorf("called %v, missed %v, panics %v", got, missed, panics)
		}
		q.Add(func() { q.Add(func() { got = append(got, 7) }) }) // a call that adds one
		if !q.Flush(time.Second) || got[len(got)-1] != 7 {
			t.Errorf("called %v", got)
		}
	})
}

func TestQueueCloseCO18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := aside.New(9, func(int64) {}, func(any) {})
		release, calls := make(chan struct{}), 0
		q.Add(func() { calls++; <-release })
		q.Add(func() { calls++ })
		synctest.Wait()
		q.Close()
		q.Add(func() { calls++ })
		close(release)
		if !q.Flush(time.Second) || calls != 1 || q.Dropped() != 1 {
			t.Errorf("%d calls, %d dropped", calls, q.Dropped())
		}
	})
}

// A handler gets what package log/slog would have given it, at its own pace.
func TestLoggerCO18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var want, got bytes.Buffer
		options := &slog.HandlerOptions{Level: slog.LevelInfo}
		beside, queue := aside.Logger(slog.New(slog.NewTextHandler(&got, options)))
		for _, logger := range []*slog.Logger{slog.New(slog.NewTextHandler(&want, options)), beside} {
			logger = logger.With("service", "s").With("node", "n")
			logger.Info("first", "a", 1, slog.Group("g", "b", 2))
			logger.Debug("not wanted")
			logger.WarnContext(t.Context(), "second")
			logger.WithGroup("in").Error("third", "c", 3)
		}
		if queue.Flush(time.Second); got.String() != want.String() || strings.Count(got.String(), "\n") != 3 {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want.String())
		}
	})
}

// A hanging handler is one that answers neither of its methods.
type hanging struct {
	slog.Handler
	release chan struct{}
}

func (h hanging) Enabled(context.Context, slog.Level) bool {
	<-h.release
	return true
}

func TestLoggerHangsCO18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		h := hanging{slog.NewTextHandler(&text, nil), make(chan struct{})}
		logger, queue := aside.Logger(slog.New(h))
		began := time.Now()
		for i := range 2000 {
			logger.With("more", i).Info("message")
		}
		if time.Since(began) != 0 || queue.Dropped() < 990 || queue.Dropped() > 1000 {
			t.Errorf("took %v, %d dropped", time.Since(began), queue.Dropped())
		}
		close(h.release)
		queue.Flush(time.Second)
		if !strings.Contains(text.String(), "records were left out\" records=") || strings.Count(text.String(), "msg=message") < 1000 {
			t.Errorf("%.300s", text.String())
		}
	})
}
