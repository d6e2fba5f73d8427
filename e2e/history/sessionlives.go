package history

import "math"

// Sessions are how long each session lasted, as its row in the table had it.
type sessions map[string][]extension

// An extension is what the row of a session says from a time on, both the store's in milliseconds. A closed session
// says 1, and so does one that is over and gone.
type extension struct{ at, exp int64 }

func (w *world) sessions() sessions {
	all := make(sessions)
	for _, ch := range w.db.changes {
		id := ch.after.text("session")
		if ch.after == nil {
			id = ch.before.text("session")
		}
		if ch.key.pk == "M#"+service && id != "" {
			all[id] = append(all[id], extension{ch.at.UnixMilli(), max(1, ch.after.number("exp"))})
		}
	}
	return all
}

// over is the first time from a time on at which the session is over. (A heartbeat that arrives late may make it look alive
// again, when its own process has given it up.)
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
		if t := max(from, e.at, e.exp); t <= until {
			first = min(first, t)
		}
	}
	return first
}

// live tells whether the session may be taken for live by a call from one time to another. A call that is held up judges what
// it reads by the time before: it may take for live what a late heartbeat has left that was over when it came.
func (s sessions) live(id string, from, to int64) bool {
	list := s[id]
	for i, e := range list {
		until := int64(math.MaxInt64)
		if i+1 < len(list) {
			until = list[i+1].at
		}
		if e.at <= to && until >= from && e.exp > from-doubt {
			return true
		}
	}
	return false
}
