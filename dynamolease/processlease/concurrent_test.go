package processlease_test

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// Everything at once, on one manager: the resignation stands in the end, and nobody saw the lease come back.
func TestManyGoroutines(t *testing.T) {
	for round := range 10 {
		inVirtualTime(t, func(w *world) {
			a, b := w.boot(), w.boot()
			m := a.manage(every(100 * time.Millisecond))
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					time.Sleep(time.Duration(round*20+i) * 10 * time.Millisecond) // around a renewal
					switch i % 4 {
					case 0:
						m.Close()
					case 1:
						if err := m.Resign(w.Context()); err != nil {
							w.Errorf("resign: %v", err)
						}
					case 2:
						// A renewal by hand that comes after the mark must not say that it succeeded.
						out, err := a.store.TryAcquire(w.Context(), a.owner)
						if err == nil && out.Record.Resigned || err != nil && !errors.Is(err, processlease.ErrSuperseded) {
							w.Errorf("%+v, %v", out, err)
						}
					case 3:
						<-m.Done()
						if m.Valid() || !errors.Is(m.Err(), processlease.ErrStopped) {
							w.Errorf("valid %v, %v", m.Valid(), m.Err())
						}
					}
				})
			}
			all.Wait()
			if got := b.load(); !got.Resigned || m.Valid() {
				w.Errorf("resigned, and the table has %v, valid %v", got, m.Valid())
			}
		})
	}
}

// Who sees that the lease is not valid is told why at once, ahead of the manager's own goroutines. A logger may ask as well.
func TestReasonComesWithTheLoss(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		var m *processlease.Manager
		asked := make(chan error, 1)
		a := w.boot(func(o *processlease.Options) {
			o.Logger = slog.New(slog.NewTextHandler(writer(func() { asked <- m.Err() }), nil))
		})
		m = a.manage()
		a.Step(ttl)
		if m.Valid() {
			w.Error("valid after a suspend for a whole ttl")
		}
		if err := m.Err(); !errors.Is(err, processlease.ErrDeadline) || !errors.Is(<-asked, processlease.ErrDeadline) {
			w.Errorf("not valid any more: %v", err)
		}
		<-m.Done()
		a.over(m, processlease.ErrDeadline)
	})
}

// A writer is called for each line.
type writer func()

func (f writer) Write(line []byte) (int, error) { f(); return len(line), nil }
