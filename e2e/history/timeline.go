package history

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A timeline lists the changes of one row, in order.
type timeline []*change

func (d *database) timelines() map[rowKey]timeline {
	lines := make(map[rowKey]timeline)
	for _, ch := range d.changes {
		lines[ch.key] = append(lines[ch.key], ch)
	}
	return lines
}

// at returns the row just after seq.
func (l timeline) at(seq int64) row {
	i, found := slices.BinarySearchFunc(l, seq, func(ch *change, seq int64) int { return int(ch.seq - seq) })
	switch {
	case found:
		return l[i].after
	case i == 0:
		return nil
	}
	return l[i-1].after
}

// between returns the states of the row from one moment to another.
func (l timeline) between(from, to int64) []row {
	rows := []row{l.at(from)}
	for _, ch := range l {
		if ch.seq > from && ch.seq < to {
			rows = append(rows, ch.after)
		}
	}
	return rows
}

// ended reports whether the row is that of a session which was over at some time between two moments:
// by its expiry, or for who watches the row.
func (l timeline) ended(from, to, now int64) bool {
	for i, ch := range l {
		until := now
		if i+1 < len(l) {
			until = l[i+1].at.UnixMilli()
		}
		if ch.seq < to && (i+1 == len(l) || l[i+1].seq > from) && newExtension(ch.at.UnixMilli(), ch.after).end() <= until {
			return true
		}
	}
	return false
}

// bare reports whether a change only wrote another rev. Such a write makes requests fail that are
// still on their way.
func (ch *change) bare() bool {
	if ch.before == nil || ch.after == nil {
		return false
	}
	before := maps.Clone(ch.before)
	before["rev"] = ch.after["rev"]
	return reflect.DeepEqual(before, ch.after)
}

// closes reports whether a change closes a session, for good.
func (ch *change) closes() bool {
	return ch.before.text("session") != "" && ch.before.number("exp") != 1 && ch.after.number("exp") == 1 && ch.after.number("left") > 0
}

func (d *delivery) String() string {
	from, node := int64(0), 0
	if d.call != nil {
		from, node = d.call.from, d.call.node
	}
	return fmt.Sprintf("%5d-%-5d %s %s of %v: %d, answered %v, for node %d in the call from %d", d.sent, d.done, clockTime(d.at), d.op, d.touched, d.status, d.answered, node, from)
}

func (ch *change) String() string {
	by := "nobody"
	if ch.call != nil {
		by = ch.call.String()
	}
	return fmt.Sprintf("%5d %s %v: %v becomes %v by %s of %s", ch.seq, clockTime(ch.at), ch.key, ch.before, ch.after, ch.op, by)
}
