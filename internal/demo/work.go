package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// errLost ends the work on a partition whose lease is gone. It is no failure: another worker does it over.
var errLost = errors.New("the lease is gone")

// work counts the partitions that the rounds put into the hand, one after the other, until ctx ends.
func (w *worker) work(ctx context.Context) error {
	for {
		t := w.hand.next()
		if t == nil {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-w.hand.dealt:
				continue
			}
		}
		err := w.process(t)
		switch {
		case errors.Is(err, errLost):
			w.logger.InfoContext(ctx, "work dropped", "worker", w.name, "partition", t.partition, "err", err)
		case err != nil:
			return err
		}
	}
}

// process counts one partition and stores the result.
func (w *worker) process(t *tenure) error {
	sum, err := w.count(t)
	if err != nil {
		return err
	}
	return w.publish(t, sum)
}

// count counts the files of a partition. What was counted when the lease is gone is worth nothing, so the lease is
// looked at after each file.
func (w *worker) count(t *tenure) (tally, error) {
	var sum tally
	files := w.parts[t.partition]
	pace := newPace(w.pace, len(files))
	for _, name := range files {
		text, err := fs.ReadFile(w.input, name)
		if err != nil {
			return sum, fmt.Errorf("read a file of %d: %w", t.partition, err)
		}
		words := countWords(text)
		if err := w.act(t, counted, name); err != nil {
			return sum, err
		}
		sum.files++
		sum.words += words
		if err := pace.wait(t.ctx); err != nil {
			return sum, fmt.Errorf("%w: %w", errLost, err)
		}
	}
	if err := pace.wait(t.ctx); err != nil { // for a partition without files
		return sum, fmt.Errorf("%w: %w", errLost, err)
	}
	return sum, nil
}

// act records that the worker does something that only the holder of the lease may do, unless the lease is gone.
func (w *worker) act(t *tenure, k kind, file string) error {
	at, ok := t.holds()
	if !ok {
		t.end(errExpired)
		return fmt.Errorf("%w: %w", errLost, context.Cause(t.ctx))
	}
	e := w.event(k, t.partition, t.epoch)
	e.At, e.File = at, file
	return w.record.add(e)
}

// publish stores a result. A worker that is stopped after its look at the lease finds out here that it was too late.
func (w *worker) publish(t *tenure, sum tally) error {
	if err := w.act(t, writing, ""); err != nil {
		return err
	}
	done, err := w.results.write(t.ctx, t.current(), sum)
	switch {
	case t.ctx.Err() != nil && err != nil:
		return fmt.Errorf("%w: %w", errLost, err)
	case err != nil:
		return err
	case done == taken:
		t.end(errTaken)
		return w.record.add(w.event(refused, t.partition, t.epoch))
	case done == stored:
		err = w.record.add(w.event(written, t.partition, t.epoch))
	}
	t.finish()
	return err
}
