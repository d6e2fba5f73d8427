package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A tale is a history that a test writes by hand. Each of its steps takes a second.
type tale struct {
	*world
	origin time.Time
}

func newTale() *tale {
	return &tale{&world{db: &database{rows: make(map[rowKey]row)}, ordered: make(map[order]bool), losses: make(map[loss]bool)}, time.Unix(1_000_000, 0).UTC()}
}

func (s *tale) clock() time.Time { return s.origin.Add(time.Duration(s.db.now) * time.Second) }

// call makes a call, and runs f in it.
func (s *tale) call(c *call, f func(c *call)) {
	s.begin(c)
	c.began = s.clock()
	f(c)
	c.to, c.ended = s.db.tick(), s.clock()
}

// write changes rows in one delivery.
func (s *tale) write(c *call, after ...row) {
	d := &delivery{call: c, sent: s.db.tick(), answered: true}
	for _, r := range after {
		k := r.key()
		before := s.db.rows[k]
		if len(r) == 2 {
			delete(s.db.rows, k) // a row with only a key stands for a deletion
			r = nil
		} else {
			s.db.rows[k] = r
		}
		s.db.changes = append(s.db.changes, &change{delivery: d, seq: s.db.tick(), at: s.clock(), key: k, before: before, after: r})
	}
	d.done = s.db.tick()
}

func number(n int64) value {
	text := fmt.Sprint(n)
	return value{N: &text}
}

func bare(k rowKey) row { return row{"pk": textValue(k.pk), "sk": textValue(k.sk)} }

// until returns a time on the clock of the tale, in the milliseconds of a row.
func (s *tale) until(seconds int64) value { return number(s.origin.UnixMilli() + 1000*seconds) }

func (s *tale) lease(owner string, epoch, exp int64) row {
	r := bare(leaseRowKey(group, 0))
	r["epoch"] = number(epoch)
	if owner != "" {
		r["owner"], r["exp"] = textValue(owner), s.until(exp)
	}
	return r
}

func (s *tale) member(node string, exp int64) row {
	r := bare(rowKey{"M#" + service, "N#" + node})
	r["node"], r["exp"], r["address"] = textValue(strings.Split(node, "#")[0]), s.until(exp), textValue("here")
	if strings.Contains(node, "#") {
		r["session"] = textValue(node)
	}
	return r
}

// marked returns a lease that is revoked.
func (s *tale) marked(owner string, epoch, exp int64) row {
	r := s.lease(owner, epoch, exp)
	r["revoked"] = number(1)
	return r
}

// underOrders returns a session with orders to give leases up.
func (s *tale) underOrders(session string, orders ...order) row {
	r := s.member(session, 60)
	list := value{}
	for _, o := range orders {
		list.L = append(list.L, textValue(o.inSession()))
	}
	r["revoked"] = list
	return r
}

func revokes(epoch int64) *call {
	return &call{what: revoke, owner: operatorName, partitions: []int{0}, under: dynamolease.Lease{Epoch: epoch}}
}

func drainRow(name string, on int64) row {
	r := bare(drainKey(name))
	r["node"] = textValue(name)
	if on > 0 {
		r["drained"] = number(on)
	}
	return r
}

func item(line, done, times, epoch int64) row {
	r := bare(rowKey{"W#0", fmt.Sprintf("%d#%010d", line, done)})
	r["times"], r["epoch"] = number(times), number(epoch)
	return r
}

func (s *tale) head(owner string, term int64) row {
	r := bare(rowKey{"P#" + identity, "HEAD"})
	r["owner"], r["term"] = textValue(owner), number(term)
	return r
}
