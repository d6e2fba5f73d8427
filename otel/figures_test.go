package dynamoleaseotel_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing/synctest"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// An instrument is what a reader, or the documentation, says of one.
type instrument struct {
	kind, unit string
	attributes string // sorted, without their namespace
}

// Figures are what a reader has collected.
type figures struct {
	instruments map[string]instrument
	values      map[string]float64 // by series; of a histogram the sum
	counts      map[string]int64   // of histograms, how many
}

// collect reads the instruments of a node.
func (n *node) collect() figures {
	n.Helper()
	synctest.Wait() // for what hooks are told beside the work
	var collected metricdata.ResourceMetrics
	if err := n.reader.Collect(context.Background(), &collected); err != nil {
		n.Fatal(err)
	}
	f := figures{make(map[string]instrument), make(map[string]float64), make(map[string]int64)}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if err := f.add(m); err != nil {
				n.Fatal(err)
			}
		}
	}
	return f
}

func (f figures) add(m metricdata.Metrics) error {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		addPoints(f, m, "counter", data.DataPoints)
	case metricdata.Sum[float64]:
		addPoints(f, m, "counter", data.DataPoints)
	case metricdata.Gauge[int64]:
		addPoints(f, m, "gauge", data.DataPoints)
	case metricdata.Gauge[float64]:
		addPoints(f, m, "gauge", data.DataPoints)
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			f.note(m, "histogram", p.Attributes, p.Sum)
			f.counts[key(m.Name, p.Attributes)] = int64(p.Count)
		}
	default:
		return fmt.Errorf("%s is a %T", m.Name, data)
	}
	return nil
}

func addPoints[N int64 | float64](f figures, m metricdata.Metrics, kind string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		f.note(m, kind, p.Attributes, float64(p.Value))
	}
}

func (f figures) note(m metricdata.Metrics, kind string, attributes attribute.Set, value float64) {
	f.instruments[m.Name] = instrument{kind, m.Unit, names(attributes)}
	f.values[key(m.Name, attributes)] = value
}

// names lists the attributes of the library's namespace.
func names(attributes attribute.Set) string {
	var list []string
	for _, a := range attributes.ToSlice() {
		if name, ok := strings.CutPrefix(string(a.Key), "dynamolease."); ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// key names a series by its short name and the values of its attributes, in the order of their names.
func key(name string, attributes attribute.Set) string {
	parts := []string{strings.TrimPrefix(name, "dynamolease.")}
	for _, a := range attributes.ToSlice() { // sorted by name
		parts = append(parts, a.Value.String())
	}
	return strings.Join(parts, " ")
}

// want compares series with what they should be. The name of a series that must not be there has -1.
func (n *node) want(when string, f figures, want map[string]float64) {
	n.Helper()
	for series, value := range want {
		got, ok := f.values[series]
		switch {
		case value < 0 && ok:
			n.Errorf("%s: %s of %s is %v, want none", when, series, n.name, got)
		case value >= 0 && (!ok || math.Abs(got-value) > 1e-9):
			n.Errorf("%s: %s of %s is %v (there: %t), want %v", when, series, n.name, got, ok, value)
		}
	}
}

// none stands for a series that must not be there.
const none = -1
