//go:build linux

package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// good returns evidence without a violation. a holds partition 0 and is stopped for long, and b
// goes on. x and y hold the identity one after the other.
func good() evidence {
	return evidence{
		events: []event{
			{1000, 3000, "a", begin, 0, 10, 0},
			{1100, 3000, "a", believe, 0, 10, 0},
			{1200, 3000, "a", wrote, 0, 10, 0},
			{1300, 3900, "a", believe, 0, 10, 1},
			{4000, 6000, "b", begin, 0, 11, 1},
			{4100, 6000, "b", believe, 0, 11, 1},
			{4200, 6000, "b", wrote, 0, 11, 1},
			{4300, 6000, "b", believe, 0, 11, 2},
			{4400, 6000, "b", refused, 0, 11, 2},
			{4500, 6000, "b", end, 0, 11, 2},
			{4600, 6600, "c", begin, 0, 12, 2},
			{1000, 2000, "x", begin, identity, 1, 0},
			{1500, 2500, "x", end, identity, 1, 0},
			{1600, 3600, "y", begin, identity, 2, 0},
			{4050, 4050, "a", believe, 0, 10, 1}, // it was stopped, not killed, and finds no time left
			{4060, 4060, "d", begin, 0, 9, 1},    // it was stopped before it began
		},
		died: map[string]instant{"a": 4100},
		rows: map[int][]row{0: {{0, 1, 10, "a"}, {1, 1, 11, "b"}, {2, 1, 12, "c"}}},
	}
}

func TestJudgeAcceptsGoodEvidence(t *testing.T) {
	if v := judge(good()); len(v.violations) > 0 {
		t.Errorf("violations: %q", v.violations)
	}
}

func TestJudgeRejects(t *testing.T) {
	tests := []struct {
		name, want string
		overlaps   int
		spoil      func(e *evidence)
	}{
		{"overlap", "more that it holds it", 1, func(e *evidence) { e.events[3].Until = 4100; delete(e.died, "a") }},
		{"overlap before the end", "more that it holds it", 1, func(e *evidence) { e.events[9].At = 4700 }},
		{"overlap of the identity", "the identity", 1, func(e *evidence) { e.events[12].At = 1700 }},
		{"overlap with one that is longer than its successor", "(epoch 10) believes", 2, func(e *evidence) {
			e.events[3].Until = 9000
			delete(e.died, "a")
		}},
		{"epoch goes back", "after epoch", 0, func(e *evidence) {
			e.events[10].Epoch = 9
			e.rows[0][2].epoch = 12
		}},
		{"same epoch again", "under epoch 11 after epoch 11", 0, func(e *evidence) { e.events[10].Epoch = 11 }},
		{"term stays", "the identity under epoch 1 after epoch 1", 0, func(e *evidence) { e.events[13].Epoch = 1 }},
		{"gap", "item 1 is missing", 0, func(e *evidence) { e.rows[0] = append(e.rows[0][:1], e.rows[0][2]) }},
		{"duplicate", "wrote item 1 2 times", 0, func(e *evidence) { e.rows[0][1].times = 2 }},
		{"written by a former holder", "under epoch 10 after", 0, func(e *evidence) { e.rows[0][2] = row{2, 1, 10, "a"} }},
		{"not there", "and the item does not exist", 0, func(e *evidence) { e.rows[0] = e.rows[0][:1] }},
		{"there", "and the item exists", 0, func(e *evidence) { e.rows[0][2] = row{2, 1, 11, "b"} }},
		{"no evidence", "does not hold", 0, func(e *evidence) {
			e.events = append(e.events, event{2000, 3600, "y", unfenced, identity, 2, 0})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := good()
			tt.spoil(&e)
			v := judge(e)
			if v.overlaps != tt.overlaps || !strings.Contains(strings.Join(v.violations, "\n"), tt.want) {
				t.Errorf("%d overlaps, %q; want %d, %q", v.overlaps, v.violations, tt.overlaps, tt.want)
			}
		})
	}
}

// readRecord leaves out a last line that a kill cut short. Any other line that it cannot read is an
// error.
func TestReadRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	r, err := openRecorder(name, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.note(begin, 3, 10, 0, func() time.Duration { return time.Second }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.file.WriteString(`{"at":2,"ki`); err != nil {
		t.Fatal(err)
	}
	if err := r.file.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := readRecord(name)
	if err != nil || len(events) != 1 || events[0].Until.sub(events[0].At) != time.Second {
		t.Errorf("events %+v, %v", events, err)
	}
	if err := os.WriteFile(name, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecord(name); err == nil {
		t.Error("readRecord accepts a line that it cannot read")
	}
}
