package coordinator_test

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing/synctest"
)

// records is a log handler that keeps what was logged of partitions.
type records struct {
	mu   sync.Mutex
	list []slog.Record
}

func (*records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler     { return r }
func (r *records) WithGroup(string) slog.Handler          { return r }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, record)
	return nil
}

// take returns what was logged since the last time.
func (r *records) take() []slog.Record {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// want checks how many partitions were told of, by message.
func (r *records) want(w *world, want map[string]int) {
	w.Helper()
	synctest.Wait() // records come later
	got := make(map[string]int)
	for _, record := range r.take() {
		if !strings.HasPrefix(record.Message, "dynamolease: partition") {
			continue
		}
		n := 1
		record.Attrs(func(a slog.Attr) bool {
			if a.Key == "count" {
				n = int(a.Value.Int64())
			}
			return true
		})
		got[record.Message] += n
	}
	if !maps.Equal(got, want) {
		w.Errorf("told of %v, want %v", got, want)
	}
}
