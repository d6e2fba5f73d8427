package bench

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const docs = "../../../docs"

var update = flag.Bool("update", false, "write what the figures in "+docs+" make, without measuring anything")

// What docs shows is what the figures beside it say, and they are of everything that is measured.
func TestDocuments(t *testing.T) {
	figures, err := os.ReadFile(filepath.Join(docs, costFigures))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(figures, &r); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(docs, costDocument))
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.documents(string(document))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := r.publish(docs); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is not what the figures make: run make bench, or this test with -update", name)
		}
	}
	if got := r.sizes(); !slices.Equal(got, fleetSizes) {
		t.Errorf("rounds of %v leases, want %v", got, fleetSizes)
	}
	if want := len(fleetSizes) * (len(ways) + 1); len(r.Rounds) != want || len(r.Operations) != len(operations) || len(r.Renewals) != len(renewals) {
		t.Errorf("%d rows of rounds, %d of operations, %d of renewals", len(r.Rounds), len(r.Operations), len(r.Renewals))
	}
	if len(r.Takeovers) != 2 || len(r.Plans) != 8 || r.Reaping == nil {
		t.Errorf("take-overs %v, plans %v, reaping %v", r.Takeovers, r.Plans, r.Reaping)
	}
	if r.Crowd == nil || r.Crowd.Crash.Leases == 0 || len(r.Crowd.Keepers) != 2 {
		t.Errorf("contention %+v", r.Crowd)
	}
	checkPublishedChanges(t, r.Changes)
	for _, name := range []string{plotOfCost, plotOfEnds} {
		if !strings.Contains(string(document), "("+name+")") {
			t.Errorf("%s does not show %s", costDocument, name)
		}
	}
}

// checkPublishedChanges checks that the small fleet is there, and each fleet with all that it goes through.
func checkPublishedChanges(t *testing.T, rows []changeRow) {
	t.Helper()
	for i, c := range usualChanges {
		found := make(map[string]bool)
		for _, row := range rows {
			if row.Nodes == c.Nodes && row.Partitions == c.Partitions && row.TTL == c.TTL.Seconds() {
				found[row.Event] = true
			}
		}
		for _, event := range c.events(0) {
			if !found[event.name] && (i == 0 || len(found) > 0) {
				t.Errorf("%s: %q is not there", c.name(), event.name)
			}
		}
	}
}

func TestFill(t *testing.T) {
	a := table{name: "a", rows: [][]string{{"name", "n"}, {"x", "1"}}, text: []int{0}, note: "A note."}
	const place = "<!-- measured: a -->\nold\n<!-- end of measured: a -->\n"
	got, err := fill("# Title\n"+place+"end\n", []table{a})
	if err != nil {
		t.Fatal(err)
	}
	want := "# Title\n<!-- measured: a -->\n\n| name | n |\n| --- | ---: |\n| x | 1 |\n\nA note.\n\n<!-- end of measured: a -->\nend\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if again, err := fill(got, []table{a}); err != nil || again != got {
		t.Errorf("filled again: %v\n%s", err, again)
	}
	for _, document := range []string{"", "<!-- measured: a -->\n", place + "<!-- measured: b -->\n<!-- end of measured: b -->\n"} {
		if _, err := fill(document, []table{a}); err == nil {
			t.Errorf("%q is no error", document)
		}
	}
}
