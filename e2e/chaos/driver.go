//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

const (
	workers = 6
	boots   = 3
)

// A driver starts the processes and disturbs them.
type driver struct {
	testing.TB
	random   *rand.Rand
	database *database
	dir      string // of the records
	proxies  []*proxy
	nodes    []*process // the latest of each node; nil between a kill and the next start
	all      []*process
	due      []deed // in the order of their times
	figures  figures
}

// A deed is a function that the driver calls at some time.
type deed struct {
	at instant
	do func() error
}

// later makes the driver call do after some time.
func (d *driver) later(after time.Duration, do func() error) {
	d.due = append(d.due, deed{now().add(after), do})
	slices.SortStableFunc(d.due, func(a, b deed) int { return int(a.at.sub(b.at)) })
}

// wait waits until some instant, and does the deeds that become due.
func (d *driver) wait(until instant) error {
	for {
		next := until
		if len(d.due) > 0 {
			next = min(next, d.due[0].at)
		}
		time.Sleep(max(0, next.sub(now()))) // real time, because nothing signals the instant
		if len(d.due) == 0 || d.due[0].at > now() {
			if now() >= until {
				return nil
			}
			continue
		}
		first := d.due[0]
		d.due = d.due[1:]
		if err := first.do(); err != nil {
			return err
		}
	}
}

// start starts the process of a node. The first nodes are workers, and the others are boots.
func (d *driver) start(i int) error {
	name := fmt.Sprintf("w%d", i)
	if i >= workers {
		name = fmt.Sprintf("b%d", i-workers)
	}
	process := fmt.Sprintf("%s.%d", name, len(d.all))
	p, err := spawn(task{
		Boot: i >= workers, Node: name, Process: process, Table: d.database.table,
		Endpoint: d.proxies[i].address(), Record: filepath.Join(d.dir, process+".jsonl"),
	})
	if err != nil {
		return err
	}
	d.nodes[i] = p
	d.all = append(d.all, p)
	return nil
}

// trouble disturbs a node or the database.
func (d *driver) trouble() error {
	i := d.random.IntN(len(d.nodes))
	switch what := d.random.IntN(100); {
	case what < 45:
		return d.kill(i)
	case what < 82:
		return d.pause(i)
	case what < 95:
		return d.cut(i)
	default:
		return d.killDatabase()
	}
}

// kill kills the process of a node. Soon after, it starts the node again, under its name.
func (d *driver) kill(i int) error {
	p := d.nodes[i]
	if p == nil {
		return nil
	}
	if p.ended() {
		return fmt.Errorf("%s ended by itself: %v\n%s", p.Process, p.err, &p.stderr)
	}
	p.kill()
	d.figures.Kills++
	d.nodes[i] = nil
	d.later(d.upTo(1500*time.Millisecond), func() error {
		d.figures.Restarts++
		return d.start(i)
	})
	return nil
}

// pause stops a process for longer than its leases last. Half of the time it delays answers first,
// so that the stop often comes in the middle of a request.
func (d *driver) pause(i int) error {
	if d.random.IntN(2) == 0 {
		return d.stop(i)
	}
	d.proxies[i].set(laggard)
	d.later(d.upTo(time.Second), func() error { return d.stop(i) })
	d.later(3*leaseTTL, func() error {
		d.proxies[i].set(pass)
		return nil
	})
	return nil
}

func (d *driver) stop(i int) error {
	p := d.nodes[i]
	if p == nil || p.asleep || p.ended() {
		return nil
	}
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	p.asleep = true
	d.figures.Pauses++
	d.later(leaseTTL+300*time.Millisecond+d.upTo(1500*time.Millisecond), func() error {
		p.asleep = false
		if p.ended() {
			return nil
		}
		return p.signal(syscall.SIGCONT)
	})
	return nil
}

// cut disturbs the connections of a node to the database for a while.
func (d *driver) cut(i int) error {
	d.figures.Cuts++
	d.proxies[i].set([]mode{hang, reset, laggard}[d.random.IntN(3)])
	d.later(100*time.Millisecond+d.upTo(leaseTTL*3/2), func() error {
		d.proxies[i].set(pass)
		return nil
	})
	return nil
}

// killDatabase kills the database. Soon after, it starts the database again at the same address,
// with the same tables.
func (d *driver) killDatabase() error {
	if err := d.database.server.Kill(); err != nil {
		return err
	}
	d.figures.DatabaseKills++
	d.later(d.upTo(1200*time.Millisecond), d.database.server.Restart)
	return nil
}

func (d *driver) upTo(most time.Duration) time.Duration {
	return time.Duration(d.random.Int64N(int64(most)))
}

// heal waits until all nodes and the database run again.
func (d *driver) heal() error {
	for len(d.due) > 0 {
		if err := d.wait(d.due[len(d.due)-1].at); err != nil {
			return err
		}
	}
	return nil
}
