package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Reaping is the result of a run of the reaper.
type Reaping struct {
	Scanned    int                    `json:"scanned"`
	Due        int                    `json:"due"`
	Deleted    int                    `json:"deleted"`
	Freed      int                    `json:"freed"`
	Raced      int                    `json:"raced"`
	Kept       int                    `json:"kept"`
	Unreadable int                    `json:"unreadable"`
	Unanswered int                    `json:"unanswered"`
	Malformed  []string               `json:"malformed,omitempty"` // the first ten
	ReadUnits  float64                `json:"read_units"`
	WriteUnits float64                `json:"write_units"`
	Throttled  int                    `json:"throttled"`
	Resumed    bool                   `json:"resumed"`
	Stopped    dynamolease.StopReason `json:"stopped,omitempty"`
}

// Reap deletes dead rows. See [dynamolease.Store.Reap]. It also returns the report with an error.
func (t *Table) Reap(ctx context.Context, cfg dynamolease.ReapConfig) (Reaping, error) {
	r, err := t.Store.Reap(ctx, cfg)
	reaping := Reaping{
		Scanned: r.Scanned, Due: r.Due, Deleted: r.Deleted, Freed: r.Freed, Raced: r.Raced, Kept: r.Kept, Unreadable: r.Unreadable, Unanswered: r.Unanswered,
		ReadUnits: r.ReadUnits, WriteUnits: r.WriteUnits, Throttled: r.Throttled, Resumed: r.Resumed, Stopped: r.Stopped,
	}
	for _, row := range r.Malformed {
		reaping.Malformed = append(reaping.Malformed, row.Error())
	}
	return reaping, err
}

// Text returns the figures, with advice after a run that stopped early.
func (r Reaping) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows scanned, %d due, %d deleted, %.1f read units, %.1f write units\n", r.Scanned, r.Due, r.Deleted, r.ReadUnits, r.WriteUnits)
	for _, line := range []struct {
		rows int
		what string
	}{
		{r.Freed, "leases of sessions that are over: freed"},
		{r.Raced, "changed or gone since they were scanned: left alone"},
		{r.Kept, "due and never deleted: live ones, heads of process leases, rows of others"},
		{r.Unanswered, "may be deleted: no answer came"},
		{r.Throttled, "requests were turned away, and repeated"},
		{r.Unreadable, "cannot be read, and were left alone:"},
	} {
		if line.rows > 0 {
			fmt.Fprintf(&b, "%d %s\n", line.rows, line.what)
		}
	}
	for _, row := range r.Malformed {
		fmt.Fprintf(&b, "  %s\n", row)
	}
	if r.Resumed {
		b.WriteString("it went on where an earlier run had stopped\n")
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "stopped early (%s): run it again with the same --segments, and it goes on from there\n", r.Stopped)
	}
	return b.String()
}
