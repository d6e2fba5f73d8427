package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ratioTarget bounds how much longer a call of the library may take than its requests.
const ratioTarget = 1.10

// A report is the result of a run.
type report struct {
	Operations []operationRow `json:"operations,omitempty"`
	Renewals   []renewalRow   `json:"renewals,omitempty"`
	Bills      []bill         `json:"bills,omitempty"`
	Reaping    *reapingRow    `json:"reaping,omitempty"`
	Rounds     []roundRow     `json:"rounds,omitempty"`
	Takeovers  []takeoverRow  `json:"takeovers,omitempty"`
	Crowd      *crowdReport   `json:"contention,omitempty"`
	Changes    []changeRow    `json:"changes,omitempty"`
	Plans      []planRow      `json:"plans,omitempty"`
}

type operationRow struct {
	Operation     string   `json:"operation"`
	Requests      int      `json:"requests"`
	Library       timing   `json:"library"`
	Bare          timing   `json:"bare"`
	Ratio         estimate `json:"ratio"`
	LibraryMemory memory   `json:"library_memory"`
	BareMemory    memory   `json:"bare_memory"`
}

// A renewalRow compares the renewal of 1,000 leases with the bare SDK's, and with the library's own
// renewal of 100.
type renewalRow struct {
	Way          string   `json:"way"`
	Endpoint     string   `json:"endpoint"`
	Requests100  int      `json:"requests_100"`
	Requests1000 int      `json:"requests_1000"`
	Library100   timing   `json:"library_100"`
	Library1000  timing   `json:"library_1000"`
	Bare1000     timing   `json:"bare_1000"`
	Growth       estimate `json:"growth"` // of the library's time, from 100 leases to 1,000
	Ratio        estimate `json:"ratio"`  // of the library to the bare SDK, with 1,000
}

// tables returns the tables of the measured rows.
func (r *report) tables() []table {
	var list []table
	if len(r.Operations) > 0 {
		list = append(list, r.operationTable(), r.billTable())
	}
	if len(r.Renewals) > 0 {
		list = append(list, r.renewalTable())
	}
	if r.Reaping != nil {
		list = append(list, r.Reaping.table())
	}
	if len(r.Rounds) > 0 {
		list = append(list, r.roundTable(), r.monthTable())
	}
	if len(r.Takeovers) > 0 {
		list = append(list, r.takeoverTable())
	}
	if r.Crowd != nil {
		list = append(list, r.Crowd.tables()...)
	}
	if len(r.Changes) > 0 {
		list = append(list, changesTables(r.Changes)...)
	}
	if len(r.Plans) > 0 {
		list = append(list, r.planTable())
	}
	return list
}

func (r *report) print(w io.Writer) error {
	for i, t := range r.tables() {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := t.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) operationTable() table {
	rows := [][]string{{"operation", "requests", "library us/op", "+-", "bare us/op", "+-", "ratio", "95 %", "rounds",
		"library allocs/op", "bare allocs/op", "library B/op", "bare B/op"}}
	var slow []string
	for _, o := range r.Operations {
		rows = append(rows, []string{o.Operation, strconv.Itoa(o.Requests),
			whole(o.Library.Median), o.Library.noise(), whole(o.Bare.Median), o.Bare.noise(),
			o.Ratio.String(), o.Ratio.interval(), strconv.Itoa(o.Ratio.Rounds),
			whole(o.LibraryMemory.Allocs), whole(o.BareMemory.Allocs), whole(o.LibraryMemory.Bytes), whole(o.BareMemory.Bytes)})
		if o.Ratio.Ratio > ratioTarget {
			slow = append(slow, fmt.Sprintf("%s (%s, %s)", o.Operation, o.Ratio, o.Ratio.interval()))
		}
	}
	if len(slow) == 0 {
		slow = []string{"none"}
	}
	return table{
		name: "operations", title: "Each operation beside bare SDK calls that send the same requests", rows: rows, text: []int{0},
		note: fmt.Sprintf(`Ratios above %.2f: %s.
Times are medians of all calls, with half of the range of their middle half. Ratios are medians of the rounds' ratios,
with their 95 %% confidence interval. The bare side decodes no answers and bounds no request: the library's doing so counts.`,
			ratioTarget, strings.Join(slow, ", ")),
	}
}

func (r *report) billTable() table {
	rows := [][]string{{"operation", "requests", "read units", "write units", "bytes sent", "which"}}
	for _, b := range r.Bills {
		var sent []string
		for _, op := range slices.Sorted(maps.Keys(b.Sent)) {
			sent = append(sent, fmt.Sprintf("%d %s", b.Sent[op], op))
		}
		rows = append(rows, []string{b.Operation, strconv.Itoa(b.Requests), strconv.Itoa(b.ReadUnits), strconv.Itoa(b.WriteUnits),
			strconv.Itoa(b.BytesSent), strings.Join(sent, ", ")})
	}
	return table{
		name: "calls", title: "What a call sends and is billed as", rows: rows, text: []int{0, 5},
		note: `Units are counted from the requests and answers by DynamoDB's documented rules: a strongly consistent read is a unit for
each 4 KB read, a write one for each 1 KB of the item, in a transaction two, all rounded up.`,
	}
}

func (r *report) renewalTable() table {
	rows := [][]string{{"by", "endpoint", "requests of 100", "of 1000", "library ms of 100", "of 1000", "growth", "95 %",
		"bare ms of 1000", "ratio", "95 %", "rounds"}}
	for _, m := range r.Renewals {
		rows = append(rows, []string{m.Way, m.Endpoint, strconv.Itoa(m.Requests100), strconv.Itoa(m.Requests1000),
			millis(m.Library100.Median), millis(m.Library1000.Median), m.Growth.String(), m.Growth.interval(),
			millis(m.Bare1000.Median), m.Ratio.String(), m.Ratio.interval(), strconv.Itoa(m.Ratio.Rounds)})
	}
	return table{
		name: "renewals", title: fmt.Sprintf("Renewing 1,000 leases in one call, at an endpoint %v away", distance), rows: rows, text: []int{0, 1},
		note: fmt.Sprintf(`The test server does one request at a time, and works on a transaction of 100 for longer than the distance, so ten cannot
overlap there; the endpoint that answers without doing any work shows what the library itself adds.
Target: by transactions, 1,000 leases take at most %.1f times as long as 100. Of fewer than six rounds, the interval is all.`, growthTarget),
	}
}

// noise returns half of the range of the middle half of the calls, in percent of the median.
func (t timing) noise() string { return fmt.Sprintf("%.0f %%", 50*(t.High-t.Low)/t.Median) }

func (e estimate) String() string   { return fmt.Sprintf("%.2f", e.Ratio) }
func (e estimate) interval() string { return fmt.Sprintf("%.2f-%.2f", e.Low, e.High) }

func whole(v float64) string   { return fmt.Sprintf("%.0f", v) }
func millis(us float64) string { return fmt.Sprintf("%.1f", us/1000) }
