package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// The line is one JSON object, and every metric that it defines is a number in it.
func TestMetricsLine(t *testing.T) {
	report := dynamolease.ReapReport{
		Scanned: 100, Due: 20, Deleted: 11, Freed: 5, Raced: 2, Kept: 3, Unreadable: 4, ReadUnits: 12.5, WriteUnits: 13, Throttled: 1,
	}
	var out bytes.Buffer
	now := time.UnixMilli(1_800_000_000_123)
	if err := writeMetrics(&out, now, summarize(`odd"name`, report, nil, 1500*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("want one line, got %q", out.String())
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["Table"] != `odd"name` || line["level"] != "INFO" {
		t.Errorf("the line is %v", line)
	}
	want := map[string]float64{
		"Scanned": 100, "Due": 20, "Deleted": 11, "Freed": 5, "Raced": 2, "Kept": 3, "Unreadable": 4, "Throttled": 1, "Complete": 1,
		"ReadUnits": 12.5, "WriteUnits": 13, "Duration": 1500,
	}
	got := make(map[string]float64)
	for _, name := range definitions(t, out.Bytes(), now) {
		value, ok := line[name].(float64)
		if !ok {
			t.Errorf("%s is defined, and %v", name, line[name])
		}
		got[name] = value
	}
	if !maps.Equal(got, want) {
		t.Errorf("the metrics are %v, want %v", got, want)
	}
}

// definitions are the names of the metrics that a line defines.
func definitions(t *testing.T, line []byte, now time.Time) []string {
	t.Helper()
	var root struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal(line, &root); err != nil {
		t.Fatal(err)
	}
	if len(root.AWS.CloudWatchMetrics) != 1 || root.AWS.Timestamp != now.UnixMilli() {
		t.Fatalf("the metadata is %+v", root.AWS)
	}
	directive := root.AWS.CloudWatchMetrics[0]
	if directive.Namespace != "dynamolease" || len(directive.Dimensions) != 1 || !slices.Equal(directive.Dimensions[0], []string{"Table"}) {
		t.Errorf("the directive is %+v", directive)
	}
	var names []string
	for _, metric := range directive.Metrics {
		if !slices.Contains([]string{"Count", "Milliseconds", "None"}, metric.Unit) {
			t.Errorf("%s has the unit %q", metric.Name, metric.Unit)
		}
		names = append(names, metric.Name)
	}
	return names
}

// A run that did not get to the end, or failed, is not complete.
func TestMetricsOfARunThatIsNotComplete(t *testing.T) {
	stopped := summarize("leases", dynamolease.ReapReport{Stopped: dynamolease.StoppedByLimit}, nil, 0)
	failed := summarize("leases", dynamolease.ReapReport{}, io.ErrUnexpectedEOF, 0)
	for _, s := range []summary{stopped, failed} {
		var out bytes.Buffer
		if err := writeMetrics(&out, time.Now(), s); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"Complete":0,`) {
			t.Errorf("the metrics of %+v are %s", s, &out)
		}
	}
}

func TestMetricsThatCannotBeWritten(t *testing.T) {
	closed, w := io.Pipe()
	closed.Close()
	if err := writeMetrics(w, time.Now(), summary{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("want %v, got %v", io.ErrClosedPipe, err)
	}
}
