package history

import "math"

// sessions holds the expiries of each session over time, from its row in the table.
type sessions map[string][]extension

// An extension is the expiry in the row of a session from some time on. It also says when anybody
// who watches the row knows that the session is dead, its own ttl after the row last changed, and
// until when anybody who has seen it change takes it for alive, whatever the expiry. All are the
// store's time, in milliseconds. The expiry of a closed session is 1, and so is that of a session
// whose row no longer exists.
type extension struct{ at, exp, silent, seen int64 }

func newExtension(at int64, r row) extension {
	e := extension{at: at, exp: max(1, r.number("exp"))}
	if lasts := r.number("lasts"); lasts > 0 {
		e.silent = at + lasts
		if e.exp > 1 {
			e.seen = at + lasts/2
		}
	}
	return e
}

// end returns when the session is over, as long as its row stays as it is.
func (e extension) end() int64 {
	if e.silent == 0 { // the row does not say how long the session lasts
		return e.exp
	}
	return min(e.exp, e.silent)
}

func (w *world) sessions() sessions {
	all := make(sessions)
	for _, ch := range w.db.changes {
		id := ch.after.text("session")
		if ch.after == nil {
			id = ch.before.text("session")
		}
		if ch.key.pk == "M#"+service && id != "" {
			all[id] = append(all[id], newExtension(ch.at.UnixMilli(), ch.after))
		}
	}
	return all
}

// over returns the first time, from a given one on, at which the session is over. (A heartbeat that
// arrives late may make a session look live again after its own process has given it up.)
func (s sessions) over(id string, from int64) int64 {
	list := s[id]
	first := int64(math.MaxInt64)
	if len(list) == 0 || from < list[0].at {
		return from
	}
	for i, e := range list {
		until := int64(math.MaxInt64)
		if i+1 < len(list) {
			until = list[i+1].at
		}
		if t := max(from, e.at, e.end()); t <= until {
			first = min(first, t)
		}
	}
	return first
}

// live reports whether a call from one time to another may take the session for live. A delayed
// call judges the row by an earlier time. So it may take a session for live if a late heartbeat
// wrote its row, even if the session was already over when that heartbeat arrived.
func (s sessions) live(id string, from, to int64) bool {
	list := s[id]
	for i, e := range list {
		until := int64(math.MaxInt64)
		if i+1 < len(list) {
			until = list[i+1].at
		}
		if e.at <= to && until >= from && max(e.exp, e.seen) > from-uncertainty {
			return true
		}
	}
	return false
}
