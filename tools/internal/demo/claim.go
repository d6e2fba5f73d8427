package demo

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A claim is what a handler goes by: that its worker holds a partition for as long as the lease says. It is recorded
// before the handler acts on it, so that the claims of all workers can be compared when all is over.
type claim struct {
	owner     string
	partition int
	epoch     int64
	remaining func() time.Duration // of the lease, with all renewals
	clock     clock
	record    *recorder
	until     instant // as recorded last
}

// claimed begins a claim, and records from which file on the handler counts.
func (w *worker) claimed(lease coordinator.Assignment, from int) (*claim, error) {
	c := &claim{
		owner: w.name, partition: lease.Partition, epoch: lease.Epoch, remaining: lease.Remaining,
		clock: w.clock, record: w.record,
	}
	return c, c.note(started, chunk{From: from})
}

// note records what the handler does, and until when it counts on the lease.
func (c *claim) note(k kind, what chunk) error {
	at, until := c.clock.deadline(c.remaining)
	return c.add(event{At: at, Until: until, Kind: k, From: what.From, To: what.To})
}

// renewed records that the lease lasts until another time than before, if it does.
func (c *claim) renewed() error {
	at, until := c.clock.deadline(c.remaining)
	if moved := until.sub(c.until); moved.Abs() < 10*settleTime {
		return nil
	}
	return c.add(event{At: at, Until: until, Kind: kept})
}

func (c *claim) add(e event) error {
	c.until = e.Until
	e.Owner, e.Partition, e.Epoch = c.owner, c.partition, c.epoch
	return c.record.add(e)
}
