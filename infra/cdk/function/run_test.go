package function_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const patient = 30 * time.Second // a timeout that no test waits for

// The dead rows go, and all other rows stay.
func TestRun(t *testing.T) {
	w := newWorld(t)
	unreadable := lease(8, -time.Hour)
	delete(unreadable, "rev")
	w.put(append(dead(5), lease(7, time.Hour), unreadable)...)
	p := w.start(patient)

	r := p.invoke()
	want := run{Table: w.table, Scanned: 7, Due: 6, Deleted: 5, Unreadable: 1, Complete: true}
	if r != want {
		t.Errorf("the answer is\n%+v, want\n%+v", r, want)
	}
	if left := w.keys(); !slices.Equal(left, []string{"P#0000000007", "P#0000000008"}) {
		t.Errorf("left are %v", left)
	}
}

// The log has one line for the run, one for the metrics, and one that names the unreadable rows.
func TestLog(t *testing.T) {
	w := newWorld(t)
	unreadable := lease(8, -time.Hour)
	delete(unreadable, "rev")
	w.put(append(dead(3), unreadable)...)
	p := w.start(patient)
	p.invoke()

	reaped := p.line(`"reaped"`)
	fields, _ := reaped["run"].(map[string]any)
	if reaped["level"] != "INFO" || fields["deleted"] != 3.0 || fields["complete"] != true {
		t.Errorf("the line of the run is %v", reaped)
	}
	if id, _ := reaped["requestId"].(string); id == "" {
		t.Errorf("the line of the run has no requestId: %v", reaped)
	}
	metrics := p.line(`"CloudWatchMetrics"`)
	if metrics["Deleted"] != 3.0 || metrics["Complete"] != 1.0 || metrics["Table"] != w.table || metrics["level"] != "INFO" {
		t.Errorf("the line of metrics is %v", metrics)
	}
	warning := p.line(`"unreadable rows"`)
	first, _ := warning["first"].([]any)
	if len(first) != 1 || !strings.Contains(first[0].(string), "L#orders / P#0000000008") || warning["level"] != "WARN" {
		t.Errorf("the warning is %v", warning)
	}
	for _, line := range []string{`"reaped"`, `"CloudWatchMetrics"`, `"unreadable rows"`} {
		if n := p.lines(line); n != 1 {
			t.Errorf("%d lines have %s, want one", n, line)
		}
	}
}

// The first invocation learns the clock of the store, which saves the second one requests.
func TestStoreIsKeptBetweenInvocations(t *testing.T) {
	w := newWorld(t)
	p := w.start(patient)
	p.invoke()
	first := w.path.Count("")
	w.path.Reset()
	w.put(dead(1)...)
	if r := p.invoke(); r.Deleted != 1 || !r.Complete {
		t.Errorf("the second run is %+v", r)
	}
	// The invocation that deletes needs one request more.
	if second := w.path.Count("") - 1; second >= first {
		t.Errorf("the second invocation made %d requests, the first %d", second, first)
	}
}

// A run that had to stop is continued by the next run, in any process.
func TestResume(t *testing.T) {
	w := newWorld(t)
	w.put(dead(1100)...) // more than a page
	r := w.start(patient, "DYNAMOLEASE_LIMIT", "1000").invoke()
	if r.Stopped != "limit" || r.Complete || r.Deleted != 1000 || r.ErrorMessage != "" {
		t.Fatalf("the first run is %+v", r)
	}
	r = w.start(patient).invoke()
	if !r.Resumed || !r.Complete || r.Deleted != 100 || r.Scanned >= 200 {
		t.Errorf("the second run is %+v", r)
	}
	if left := w.keys(); len(left) != 0 {
		t.Errorf("%d rows are left", len(left))
	}
}
