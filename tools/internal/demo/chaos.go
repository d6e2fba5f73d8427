package demo

import (
	"fmt"
	"time"
)

// chaos disturbs the workers. It kills one, stops another, and lets that one go on when the others
// have taken over its partitions. It hits the worker that is in the middle of the most partitions.
type chaos struct {
	ttl     time.Duration
	killed  *process
	died    instant
	stopped *process
	stop    span  // without an end until the worker goes on
	pending []int // unfinished partitions of the stopped worker
}

const (
	killAfter = 8                      // one in so many files is counted before
	minPause  = 500 * time.Millisecond // the least time beyond the ttl
)

// step does what is due, and returns the news of it.
func (c *chaos) step(clock clock, s *snapshot, workers []*process) (string, error) {
	now := clock.now()
	victim := s.busiest()
	switch {
	case c.killed == nil:
		if s.files < s.size/killAfter || !s.allBegun() {
			return "", nil
		}
		return c.kill(clock, s, workers, victim)
	case c.stopped == nil:
		if now.sub(c.died) < c.ttl*2/3 || victim == nobody {
			return "", nil
		}
		return c.pause(clock, s, workers, victim)
	case c.stop.until == 0:
		if now.sub(c.stop.from) < c.ttl+minPause || !c.replaced(s) {
			return "", nil
		}
		return c.resume(clock)
	}
	return "", nil
}

func (c *chaos) kill(clock clock, s *snapshot, workers []*process, victim int) (string, error) {
	p := workers[victim]
	if err := p.kill(); err != nil {
		return "", err
	}
	if !p.killed() {
		return "", p.failure() // it ended by itself just before
	}
	c.killed, c.died = p, clock.now()
	return fmt.Sprintf("%s is killed (SIGKILL) in the middle of %s", p.name, partitions(s.workers[victim].begun)), nil
}

func (c *chaos) pause(clock clock, s *snapshot, workers []*process, victim int) (string, error) {
	p := workers[victim]
	if err := p.stop(); err != nil {
		return "", err
	}
	c.stopped, c.stop.from = p, clock.now()
	for i, cell := range s.cells {
		if cell.owner == victim && !cell.done {
			c.pending = append(c.pending, i)
		}
	}
	return fmt.Sprintf("%s is stopped (SIGSTOP) in the middle of %s", p.name, partitions(s.workers[victim].begun)), nil
}

// replaced reports whether others own or have completed all that the stopped worker had not
// finished.
func (c *chaos) replaced(s *snapshot) bool {
	for _, i := range c.pending {
		owner := s.cells[i].owner
		if !s.cells[i].done && (owner == nobody || s.workers[owner].name == c.stopped.name) {
			return false
		}
	}
	return true
}

func (c *chaos) resume(clock clock) (string, error) {
	c.stop.until = clock.now()
	if err := c.stopped.resume(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s goes on (SIGCONT) after %.1f s", c.stopped.name, c.stop.until.sub(c.stop.from).Seconds()), nil
}

// diedAt returns the killed worker with the time when it was gone.
func (c *chaos) diedAt() map[string]instant {
	if c.killed == nil {
		return nil
	}
	return map[string]instant{c.killed.name: c.died}
}

// pauses returns the worker that was stopped and went on, with the time in between.
func (c *chaos) pauses() map[string]span {
	if c.stopped == nil {
		return nil
	}
	return map[string]span{c.stopped.name: c.stop}
}
