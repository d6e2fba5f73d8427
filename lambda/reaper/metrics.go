package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

const namespace = "dynamolease"

// A metric is a value with the name and unit that define it for CloudWatch.
type metric struct {
	Name  string
	Unit  string
	value float64
}

func (s summary) metrics() []metric {
	complete := 0.0
	if s.Complete {
		complete = 1
	}
	return []metric{
		{"Scanned", "Count", float64(s.Scanned)},
		{"Due", "Count", float64(s.Due)},
		{"Deleted", "Count", float64(s.Deleted)},
		{"Freed", "Count", float64(s.Freed)},
		{"Raced", "Count", float64(s.Raced)},
		{"Kept", "Count", float64(s.Kept)},
		{"Unreadable", "Count", float64(s.Unreadable)},
		{"Throttled", "Count", float64(s.Throttled)},
		{"Complete", "None", complete},
		{"ReadUnits", "Count", s.ReadUnits},
		{"WriteUnits", "Count", s.WriteUnits},
		{"Duration", "Milliseconds", s.DurationMS},
	}
}

// A directive tells CloudWatch which members of the line are metrics, and which are their
// dimensions.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

// writeMetrics writes one line in CloudWatch's embedded metric format, with a single write.
func writeMetrics(w io.Writer, now time.Time, s summary) error {
	metrics := s.metrics()
	line := map[string]any{
		"_aws": map[string]any{
			"Timestamp":         now.UnixMilli(),
			"CloudWatchMetrics": []directive{{namespace, [][]string{{"Table"}}, metrics}},
		},
		"level": "INFO", // so that a filter by level keeps it
		"Table": s.Table,
	}
	for _, m := range metrics {
		line[m.Name] = m.value
	}
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode metrics: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}
