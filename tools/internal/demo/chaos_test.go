//go:build unix

package demo

import (
	"strings"
	"testing"
	"time"
)

// The acts of chaos come one after the other, each when it is due.
func TestChaos(t *testing.T) {
	workers := idle(t, 3)
	s := &snapshot{workers: []workerState{
		{name: "w1", state: running, open: 5, begun: 3}, {name: "w2", state: running, begun: 2}, {name: "w3", state: running},
	}, size: 160}
	for i := range s.cells {
		s.cells[i].owner = nobody
	}
	s.cells[3].owner, s.cells[9].owner = 1, 1
	c := chaos{ttl: 3 * time.Second}
	step := func(after time.Duration, want string) {
		t.Helper()
		c.died, c.stop.from = c.died.add(-after), c.stop.from.add(-after) // so long ago is what happened last
		got, err := c.step(newClock(), s, workers)
		if err != nil || !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("step = %q, %v, want %q", got, err, want)
		}
	}
	step(0, "") // too little is counted
	s.files = 20
	step(0, "") // not all have begun
	s.workers[2].begun = 1
	step(0, "w1 is killed (SIGKILL) in the middle of 3 partitions")
	if !workers[0].killed() {
		t.Error("w1 is not killed")
	}
	s.workers[0].state = killed
	step(0, "")
	step(2*time.Second, "w2 is stopped (SIGSTOP) in the middle of 2 partitions")
	s.workers[1].state = stopped
	step(4*time.Second, "") // it still owns its partitions
	s.cells[3].done, s.cells[9].owner = true, 2
	step(0, "w2 goes on (SIGCONT) after")
	step(10*time.Second, "")
	if len(c.diedAt()) != 1 || len(c.pauses()) != 1 {
		t.Errorf("%d killed and %d stopped, want one each", len(c.diedAt()), len(c.pauses()))
	}
}
