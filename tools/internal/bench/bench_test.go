package bench

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// requests of each operation: see LS2, LS14 and LS28.
var requests = map[string]int{
	"Acquire, free":            2,
	"Acquire, extends":         1,
	"Acquire, held by another": 1,
	"Renew 1, transaction":     1,
	"Renew 100, transaction":   1,
	"Renew 100, each item":     100,
	"Release":                  1,
	"Owners of 100":            1,
	"Heartbeat":                1,
	"Members of 100":           1,
	"Leave":                    2,
}

// startLab is a lab that ends with the test.
func startLab(t *testing.T) *lab {
	t.Helper()
	l, err := newLab(t.Context())
	if errors.Is(err, dynamotest.ErrUnavailable) && os.Getenv("DYNAMODB_REQUIRED") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// One round of everything: it fails by itself where the two sides send different requests.
func TestBench(t *testing.T) {
	b := &bench{
		lab: startLab(t), rounds: 1, limit: time.Second, leases: 101, rows: 100,
		match: regexp.MustCompile("^(Acquire|Renew|Release|Owners|Heartbeat|Members|Leave|Reap)"), progress: io.Discard,
	}
	r, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if len(r.Operations) != len(requests) || len(r.Bills) != len(requests) {
		t.Errorf("%d operations and %d bills, want %d of each", len(r.Operations), len(r.Bills), len(requests))
	}
	for _, row := range r.Operations {
		if row.Requests != requests[row.Operation] {
			t.Errorf("%s: %d requests, want %d", row.Operation, row.Requests, requests[row.Operation])
		}
		if row.Library.Median <= 0 || row.Bare.Median <= 0 || row.Ratio.Ratio <= 0 || row.LibraryMemory.Allocs <= 0 || row.BareMemory.Bytes <= 0 {
			t.Errorf("%s: something was not measured: %+v", row.Operation, row)
		}
	}
	if len(r.Renewals) != len(renewals) {
		t.Errorf("%d rows of renewals, want %d", len(r.Renewals), len(renewals))
	}
	for _, row := range r.Renewals {
		few, more := 1, 2
		if row.Way == "each item" {
			few, more = 100, 101
		}
		if row.Requests100 != few || row.Requests1000 != more {
			t.Errorf("%s, %s: %d and %d requests, want %d and %d", row.Way, row.Endpoint, row.Requests100, row.Requests1000, few, more)
		}
	}
	if row := r.Reaping; row == nil || row.Rows != 100 || row.Dead != 70 || row.Library <= 0 || row.Bare <= 0 || row.PeakBytes <= 0 {
		t.Errorf("reaping: %+v", row)
	}
	checkOutput(t, r)
}

func checkOutput(t *testing.T, r *report) {
	var text strings.Builder
	if err := r.print(&text); err != nil {
		t.Fatal(err)
	}
	for name := range requests {
		if got := strings.Count(text.String(), "\n  "+name+" "); got != 2 {
			t.Errorf("%q begins %d lines, want one in each of two tables:\n%s", name, got, text.String())
		}
	}
	var written strings.Builder
	if err := r.encode(&written); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal([]byte(written.String()), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Operations) != len(r.Operations) || back.Operations[0] != r.Operations[0] {
		t.Errorf("the document does not say what was measured:\n%s", &written)
	}
}

func TestSameRequests(t *testing.T) {
	request := func(body string) []exchange { return []exchange{{op: "UpdateItem", request: []byte(body)}} }
	ours := request(`{"Key":{"pk":{"S":"abc"}},"ConditionExpression":"#rev IN (:seen_rev0)"}`)
	for name, other := range map[string][]exchange{
		"another value":     request(`{"ConditionExpression":"#rev IN (:seen_rev0)","Key":{"pk":{"S":"xyz"}}}`),
		"a longer value":    request(`{"ConditionExpression":"#rev IN (:seen_rev0)","Key":{"pk":{"S":"abcd"}}}`),
		"another condition": request(`{"ConditionExpression":"#rev = :seen_rev0","Key":{"pk":{"S":"abc"}}}`),
		"no condition":      request(`{"Key":{"pk":{"S":"abc"}}}`),
		"one more":          append(request(`{}`), ours...),
		"another operation": {{op: "PutItem", request: ours[0].request}},
	} {
		if err := same(ours, other); (err == nil) != (name == "another value") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStatistics(t *testing.T) {
	list := []float64{5, 1, 4, 2, 3}
	if got := median(list); got != 3 {
		t.Errorf("median %v, want 3", got)
	}
	if got := quantile(list, 0.25); got != 2 {
		t.Errorf("first quartile %v, want 2", got)
	}
	if low, high := confidence(list); low != 1 || high != 5 {
		t.Errorf("of five values %v-%v, want all of them", low, high)
	}
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(i+1))
	}
	// The tables of the sign test have 40 and 61.
	if low, high := confidence(hundred); low != 40 || high != 61 {
		t.Errorf("of a hundred values %v-%v, want 40-61", low, high)
	}
}
