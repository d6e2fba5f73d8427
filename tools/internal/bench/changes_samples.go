package bench

import (
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A sample is the outcome of one change.
type sample struct {
	event string
	tally
	twice        int
	over, window float64 // seconds
	unfinished   bool
	looks        []float64 // of each node and step
	used         dynamotest.Usage
}

// samples are all changes of a fleet.
type samples struct {
	spec     changesSpec
	list     []*sample
	progress func(*sample, []changeRow) error // is called after each change
}

func (s *samples) add(one *sample) error {
	s.list = append(s.list, one)
	return s.progress(one, s.rows())
}

// rows sums them up by event.
func (s *samples) rows() (rows []changeRow) {
	by := make(map[string][]*sample)
	for _, one := range s.list {
		by[one.event] = append(by[one.event], one)
	}
	for _, event := range eventNames {
		if len(by[event]) > 0 {
			row := changeRow{Nodes: s.spec.Nodes, Partitions: s.spec.Partitions, TTL: s.spec.TTL.Seconds(), Event: event, Times: len(by[event])}
			row.sum(by[event])
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *changeRow) sum(list []*sample) {
	var worked, idle, over, looked []float64
	n := float64(len(list))
	for _, s := range list {
		worked, idle, over, looked = append(worked, s.seconds...), append(idle, s.idle...), append(over, s.over), append(looked, s.looks...)
		if s.unfinished {
			r.Unfinished++
		}
		r.Window += s.window / n
		r.Moves += float64(s.moves) / n
		r.Beyond += float64(s.moves-s.least) / n
		r.Twice += float64(s.twice) / n
		r.Requests += float64(s.used.Requests) / n
		r.ReadUnits += s.used.ReadUnits / n
		r.WriteUnits += s.used.WriteUnits / n
		r.Conflicts += float64(s.used.Conflicts) / n
		r.Throttled += float64(s.used.Throttled) / n
		r.PeakReadUnits = max(r.PeakReadUnits, s.used.PeakReadUnits)
		r.PeakWriteUnits = max(r.PeakWriteUnits, s.used.PeakWriteUnits)
	}
	r.Worked, r.Idle, r.Over = spreadOf(worked), spreadOf(idle), spreadOf(over)
	for _, n := range looked {
		r.Looks.Mean += n / float64(len(looked))
	}
	if len(looked) > 0 {
		r.Looks.Most = slices.Max(looked)
	}
}

func spreadOf(list []float64) durations {
	if len(list) == 0 {
		return durations{}
	}
	return durations{quantile(list, 0.5), quantile(list, 0.99), slices.Max(list)}
}
