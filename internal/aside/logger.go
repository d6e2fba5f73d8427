package aside

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// recordsBehind is how many records wait for a log handler at the most.
const recordsBehind = 1000

// Logger returns a logger whose records reach the handler of another one by a queue. Neither the
// handler nor what it calls, such as the Error method of a value, runs where something is logged.
func Logger(to *slog.Logger) (*slog.Logger, *Queue) {
	h := handler{to: to.Handler()}
	h.queue = New(recordsBehind, h.missed, func(any) {}) // a handler that panics has nobody to tell
	return slog.New(h), h.queue
}

// A handler passes records on by a queue, each with the attributes that came with the logger.
type handler struct {
	queue *Queue
	to    slog.Handler
	attrs []slog.Attr
}

// Enabled leaves the answer to the handler behind the queue: it is a user's code, too.
func (handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	ctx = context.WithoutCancel(ctx)
	told := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	told.AddAttrs(h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		told.AddAttrs(a)
		return true
	})
	h.queue.Add(func() { h.write(ctx, told) })
	return nil
}

func (h handler) write(ctx context.Context, r slog.Record) {
	if h.to.Enabled(ctx, r.Level) {
		_ = h.to.Handle(ctx, r) // as package log/slog does: there is nobody to tell
	}
}

// missed tells of records that were left out.
func (h handler) missed(n int64) {
	r := slog.NewRecord(time.Now(), slog.LevelWarn, "dynamolease: the log handler is too slow, records were left out", 0)
	r.AddAttrs(slog.Int64("records", n))
	h.write(context.Background(), r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = slices.Concat(h.attrs, attrs)
	return h
}

// WithGroup is the one method that calls the handler at once. This library uses no groups.
func (h handler) WithGroup(name string) slog.Handler {
	h.to, h.attrs = h.to.WithAttrs(h.attrs).WithGroup(name), nil
	return h
}
