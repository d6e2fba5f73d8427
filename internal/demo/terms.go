package demo

import (
	"cmp"
	"slices"
)

// A span is a time during which a worker counted on a lease. It does not contain its end.
type span struct{ from, until instant }

func (s span) contains(at instant) bool { return s.from <= at && at < s.until }

func (s span) overlaps(o span) bool { return s.from < o.until && o.from < s.until }

// A term is what a worker believed and did under one epoch of a partition.
type term struct {
	partition int
	owner     string
	epoch     int64
	start     instant
	spans     []span    // more than one if the lease ran out and was extended after all, before anybody took it
	acts      []instant // when it counted a file or began to write the result
	released  bool      // it ended by release, so that the next owner did not have to wait
}

type termKey struct {
	partition int
	owner     string
	epoch     int64
}

// collectTerms puts the events of all workers together, by partition in order of time. diedAt says when workers were
// killed: what they believed in ended with them.
func collectTerms(events []event, diedAt map[string]instant) [Partitions][]*term {
	byKey := make(map[termKey]*term)
	var terms [Partitions][]*term
	for _, e := range events {
		key := termKey{e.Partition, e.Owner, e.Epoch}
		t := byKey[key]
		if t == nil {
			t = &term{partition: e.Partition, owner: e.Owner, epoch: e.Epoch, start: e.At}
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
	case gained, extended:
		t.believe(span{e.At, e.Until})
	case counted, writing:
		t.acts = append(t.acts, e.At)
	case released, lost:
		t.cut(e.At)
		t.released = e.Kind == released
	}
}

// believe adds a span, or makes the last one longer if it has not ended by then.
func (t *term) believe(s span) {
	t.released = false
	if n := len(t.spans); n > 0 && t.spans[n-1].contains(s.from) {
		t.spans[n-1].until = max(t.spans[n-1].until, s.until)
		return
	}
	t.spans = append(t.spans, s)
}

func (t *term) cut(at instant) {
	for i := range t.spans {
		t.spans[i].until = min(t.spans[i].until, at)
	}
}

func (t *term) holdsAt(at instant) bool {
	return slices.ContainsFunc(t.spans, func(s span) bool { return s.contains(at) })
}

func (t *term) overlaps(o *term) bool {
	return slices.ContainsFunc(t.spans, func(s span) bool { return slices.ContainsFunc(o.spans, s.overlaps) })
}
