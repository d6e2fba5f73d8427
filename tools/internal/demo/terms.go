package demo

import (
	"cmp"
	"slices"
)

// A span is a time during which a worker relied on a lease. It does not contain its end.
type span struct{ from, until instant }

func (s span) contains(at instant) bool { return s.from <= at && at < s.until }

func (s span) overlaps(o span) bool { return s.from < o.until && o.from < s.until }

// A term is the belief of a worker under one epoch of a partition: from the start of its handler
// until the handler has returned, or until the lease has run out.
type term struct {
	partition int
	owner     string
	epoch     int64
	start     instant
	from      int    // the file that the handler began with
	spans     []span // several after another call of the handler
	handed    bool   // the handler returned with the lease, so that the next owner did not wait
	running   int    // handlers
	twice     bool   // two handlers ran at one time
}

type termKey struct {
	partition int
	owner     string
	epoch     int64
}

// collectTerms puts the events of all workers together, by partition, in order of time. The beliefs
// of a killed worker end at its time in diedAt.
func collectTerms(events []event, diedAt map[string]instant) [Partitions][]*term {
	byKey := make(map[termKey]*term)
	var terms [Partitions][]*term
	for _, e := range events {
		key := termKey{e.Partition, e.Owner, e.Epoch}
		t := byKey[key]
		if t == nil {
			t = &term{partition: e.Partition, owner: e.Owner, epoch: e.Epoch, start: e.At, from: e.From}
			byKey[key] = t
			terms[e.Partition] = append(terms[e.Partition], t)
		}
		t.add(e)
	}
	for _, list := range terms {
		for _, t := range list {
			if died, ok := diedAt[t.owner]; ok {
				t.cut(died)
			}
		}
		slices.SortFunc(list, func(a, b *term) int { return cmp.Compare(a.start, b.start) })
	}
	return terms
}

func (t *term) add(e event) {
	switch e.Kind {
	case started:
		t.running++
		t.twice = t.twice || t.running > 1
	case returned:
		t.running--
		t.cut(e.At)
		t.handed = e.Until > e.At
		return
	}
	t.handed = false
	if n := len(t.spans); n > 0 && t.spans[n-1].contains(e.At) {
		t.spans[n-1].until = e.Until
	} else if e.Until > e.At {
		t.spans = append(t.spans, span{e.At, e.Until})
	}
}

func (t *term) cut(at instant) {
	for i := range t.spans {
		t.spans[i].until = min(t.spans[i].until, at)
	}
}

func (t *term) overlaps(o *term) bool {
	return slices.ContainsFunc(t.spans, func(s span) bool { return slices.ContainsFunc(o.spans, s.overlaps) })
}
