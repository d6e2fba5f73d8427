package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	changesTest = "TestChanges"
	changesFlag = "changes"
	changesSize = "size"
)

// A changesSpec is a fleet whose changes are measured.
type changesSpec struct {
	Nodes, Partitions int
	TTL               time.Duration
	Fleets            int // that are started, one after the other, and go through everything
	Cycles            int // of each: a crash, a join, a stop and a join
	Deployments       int // of the first fleets
}

// usualChanges are those of every run: many of a small fleet, and each once of a large one.
var usualChanges = []changesSpec{
	{10, 1000, 10 * time.Second, 10, 2, 2},
	{50, 10_000, 10 * time.Second, 1, 1, 0},
}

// allChanges are of all sizes. They take hours.
func allChanges() (list []changesSpec) {
	for _, ttl := range []time.Duration{10 * time.Second, 30 * time.Second} {
		for _, nodes := range []int{10, 50, 100} {
			for _, partitions := range []int{1000, 10_000} {
				c := changesSpec{nodes, partitions, ttl, 1, 1, 1}
				if nodes == 10 && partitions == 1000 {
					c.Fleets, c.Cycles, c.Deployments = 10, 2, 2
				}
				list = append(list, c)
			}
		}
	}
	return list
}

func (c changesSpec) name() string {
	return fmt.Sprintf("Changes of %d nodes, %d partitions, ttl %v", c.Nodes, c.Partitions, c.TTL)
}

// A changeRow is the outcome of the changes of one kind. Requests and units are those of all nodes
// from the change to the end of the window, with their rounds, in the mean of the changes.
type changeRow struct {
	Nodes      int     `json:"nodes"` // before the change, or after a cold start
	Partitions int     `json:"partitions"`
	TTL        float64 `json:"ttl_s"`
	Event      string  `json:"event"`
	Times      int     `json:"times"` // how often it was measured
	Window     float64 `json:"window_s"`
	Unfinished int     `json:"unfinished"` // fleets that were not even again in time

	Worked durations `json:"worked"` // until each partition that had to move was worked again
	Idle   durations `json:"idle"`   // how long nobody worked a partition, of each move
	Over   durations `json:"over"`   // until the shares were even, of each change
	Moves  float64   `json:"moves"`  // the mean of a change
	Beyond float64   `json:"beyond"` // those of them that were more than would do
	Twice  float64   `json:"twice"`  // partitions whose handler started more than once
	Looks  looks     `json:"looks"`  // at the owners
	usage
	Conflicts      float64 `json:"conflicts"`
	Throttled      float64 `json:"throttled"`
	PeakReadUnits  float64 `json:"peak_read_units"` // of one partition key in one second, the most of all
	PeakWriteUnits float64 `json:"peak_write_units"`
}

// durations are a distribution, in seconds. All are zero if there is none.
type durations struct {
	P50 float64 `json:"p50_s"`
	P99 float64 `json:"p99_s"`
	Max float64 `json:"max_s"`
}

// looks are the Query requests for the owners of a group, first pages, of one node and change.
type looks struct {
	Mean float64 `json:"mean"`
	Most float64 `json:"most"`
}

// changed runs this package's own test, as crowded does.
func changed(ctx context.Context, c changesSpec) (rows []changeRow, err error) {
	spec, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return rows, inBubble(ctx, changesTest, changesFlag, &rows, "-"+changesSize+"="+string(spec))
}
