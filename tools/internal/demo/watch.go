package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const watchPeriod = 150 * time.Millisecond

// watch shows the run and carries out chaos, until the workers have ended.
func (r *run) watch(ctx context.Context, show view) error {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	w := watcher{run: r}
	for i := range w.owners {
		w.owners[i] = nobody
	}
	w.tell("%d workers, leases of %v, the .go files of %s in %d partitions", len(w.workers), w.cfg.TTL, w.cfg.Input, Partitions)
	for {
		over, err := w.look(ctx, show)
		if over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// A watcher is the parent's memory from one look to the next.
type watcher struct {
	*run
	news    []news
	owners  [Partitions]int // the latest known owner of each partition
	counted bool            // the plain count is no longer news
}

func (w *watcher) look(ctx context.Context, show view) (over bool, err error) {
	s, err := w.snapshot(ctx)
	if err != nil {
		return false, err
	}
	w.report(s)
	happened, err := w.chaos.step(w.clock, s, w.workers)
	if err != nil {
		return false, err
	}
	if happened != "" {
		w.tell("%s", happened)
		w.states(s)
	}
	s.news = w.news
	if err := show.show(s); err != nil {
		return false, err
	}
	return w.over(s)
}

// snapshot reads the table: the owners and the progress.
func (w *watcher) snapshot(ctx context.Context) (*snapshot, error) {
	leases, err := w.store.Owners(ctx, group)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	results, err := w.results.read(ctx)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	s := &snapshot{elapsed: w.elapsed(), workers: make([]workerState, len(w.workers))}
	numbers := make(map[string]int, len(w.workers))
	for i, p := range w.workers {
		s.workers[i].name = p.name
		numbers[p.name] = i
	}
	for i := range s.cells {
		s.cells[i] = cell{owner: nobody, adder: nobody, size: w.sizes[i]}
		s.size += w.sizes[i]
	}
	for _, lease := range leases {
		s.cells[lease.Partition].owner = numbers[lease.Owner]
	}
	for _, res := range results {
		c := &s.cells[res.partition]
		c.files, c.done = res.tally.files, res.complete
		c.adder = numbers[res.chunks[len(res.chunks)-1].Owner]
		if c.done {
			c.owner = c.adder
			s.done++
		}
		s.files += res.tally.files
		s.words += res.tally.words
	}
	w.states(s)
	return s, nil
}

// states adds what is known of the workers themselves.
func (w *watcher) states(s *snapshot) {
	for i, p := range w.workers {
		state := &s.workers[i]
		*state = workerState{name: p.name, state: running}
		switch {
		case p == w.chaos.killed:
			state.state = killed
		case !p.running():
			state.state = ended
		case p == w.chaos.stopped && w.chaos.stop.until == 0:
			state.state = stopped
		}
	}
	for _, c := range s.cells {
		switch {
		case c.owner == nobody:
		case c.done:
			s.workers[c.owner].closed++
		default:
			s.workers[c.owner].open++
			if c.adder == c.owner {
				s.workers[c.owner].begun++
			}
		}
	}
}

// report adds the news of a snapshot.
func (w *watcher) report(s *snapshot) {
	moved := s.transfers(&w.owners)
	for _, t := range slices.SortedFunc(maps.Keys(moved), func(a, b transfer) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	}) {
		w.tell("%s now owns %s of %s", s.workers[t.to].name, partitions(moved[t]), s.workers[t.from].name)
	}
	if sum, ok := w.plain.soFar(); ok && !w.counted {
		w.counted = true
		w.tell("a plain count of the same %d files, by one process, finds %d words", sum.files, sum.words)
	}
}

func partitions(n int) string {
	if n == 1 {
		return "1 partition"
	}
	return fmt.Sprintf("%d partitions", n)
}

func (w *watcher) tell(format string, args ...any) {
	w.news = append(w.news, news{w.elapsed(), fmt.Sprintf(format, args...)})
}

func (w *watcher) elapsed() time.Duration { return time.Since(w.clock.start) }

// over reports whether all workers have ended as they should: after all was done and the parent
// told them to.
func (w *watcher) over(s *snapshot) (bool, error) {
	done, left := s.done == Partitions, 0
	for _, p := range w.workers {
		switch {
		case p == w.chaos.killed:
		case p.running():
			left++
		case !done || p.err != nil:
			return false, p.failure()
		}
	}
	if !done {
		return false, nil
	}
	return left == 0, w.dismissWorkers()
}
