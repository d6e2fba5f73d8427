package dashboards_test

import (
	"context"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// A monitor is a Prometheus that has scraped the fleet.
type monitor struct {
	*testing.T
	engine     *promql.Engine
	storage    storage.Queryable
	begin, end time.Time
}

func newMonitor(t *testing.T) *monitor {
	t.Helper()
	samples := scrapeFleet(t)
	stored := teststorage.New(t)
	appender := stored.Appender(t.Context())
	for _, s := range samples {
		b := labels.NewScratchBuilder(len(s.Metric))
		for name, value := range s.Metric {
			b.Add(string(name), string(value))
		}
		b.Sort()
		if _, err := appender.Append(0, b.Labels(), int64(s.Timestamp), float64(s.Value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := appender.Commit(); err != nil {
		t.Fatal(err)
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: time.Minute, LookbackDelta: 2 * scrape, Parser: parser.NewParser(parser.Options{}),
	})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &monitor{t, engine, stored, samples[0].Timestamp.Time(), samples[len(samples)-1].Timestamp.Time()}
}

// ask returns the results of a query from the first scrape to the last.
func (m *monitor) ask(query string) promql.Matrix {
	m.Helper()
	asked, err := m.engine.NewRangeQuery(context.Background(), m.storage, nil, filled(query), m.begin, m.end, scrape)
	if err != nil {
		m.Fatalf("%s: %v", query, err)
	}
	m.Cleanup(asked.Close)
	result, err := asked.Exec(context.Background()).Matrix()
	if err != nil {
		m.Fatalf("%s: %v", query, err)
	}
	return result
}

// A line is a series of a panel: its figures.
type line struct {
	least, most, last float64
	points            int
}

// lines returns the lines that a query shows, by legend. A point that is not a number is not shown.
func (m *monitor) lines(q target) map[string]line {
	m.Helper()
	shown := make(map[string]line)
	for _, series := range m.ask(q.Expr) {
		legend := regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(q.LegendFormat, func(label string) string {
			value := series.Metric.Get(label[2 : len(label)-2])
			if value == "" {
				m.Errorf("%s gives %s, which has nothing for %s", q.Expr, series.Metric, label)
			}
			return value
		})
		if _, twice := shown[legend]; twice {
			m.Errorf("%s shows two lines that are called %q", q.Expr, legend)
		}
		l := line{least: math.Inf(1), most: math.Inf(-1)}
		for _, p := range series.Floats {
			if !math.IsNaN(p.F) {
				l = line{min(l.least, p.F), max(l.most, p.F), p.F, l.points + 1}
			}
		}
		shown[legend] = l
	}
	return shown
}

// Each query of each panel shows something, and the panels together show what happened to the
// fleet.
func TestDashboardShowsWhatHappened(t *testing.T) {
	m := newMonitor(t)
	shown := make(map[string]map[string]line)
	for _, p := range readDashboard(t).Panels {
		shown[p.Title] = make(map[string]line)
		for _, q := range p.Targets {
			points := 0
			for legend, l := range m.lines(q) {
				shown[p.Title][legend] = l
				points += l.points
			}
			if points == 0 {
				t.Errorf("%s: %s shows nothing", p.Title, q.Expr)
			}
		}
	}
	const left = ttl / 2
	for _, want := range []struct {
		panel, legend string
		is            func(l line) bool
	}{
		{"Healthy nodes", "healthy", func(l line) bool { return l.last == 2 && l.least == 1 }},
		{"Healthy nodes", "nodes", func(l line) bool { return l.last == 2 }},
		{"Members", "members", func(l line) bool { return l.last == 2 }},
		{"Partitions that are not worked", "not worked", func(l line) bool { return l.last == 0 && l.most >= 1 && l.most <= partitions }},
		{"Not worked by reason", "orders failing", func(l line) bool { return l.last == 0 && l.most == 1 }},
		{"Not worked by reason", "orders unowned", func(l line) bool { return l.last == 0 && l.most <= partitions }},
		{"Not worked by reason", "orders excluded", func(l line) bool { return l.most == 0 }},
		{"Not worked by reason", "orders stuck", func(l line) bool { return l.last == 0 }},
		{"Handler failures", "orders", func(l line) bool { return l.most > 0 && l.last == 0 }},
		{"Stuck handlers", "orders", func(l line) bool { return l.most == 0 }},
		{"Calls left out", "a", func(l line) bool { return l.most == 0 }},
		{"Lost in the last hour", "lost", func(l line) bool { return l.most > 2 }},
		{"Requests without an answer in the last hour", "unknown", func(l line) bool { return l.most > 1 }},
		{"Partitions by node", "a orders", func(l line) bool { return l.last == partitions/2 && l.least == 0 && l.most == partitions }},
		{"Partitions by node", "b orders", func(l line) bool { return l.last == partitions/2 && l.most == partitions }},
		{"Owned and share", "b orders", func(l line) bool { return l.last == 0 }},
		{"Owned and free by group", "orders owned", func(l line) bool { return l.last == partitions }},
		{"Moves", "orders", func(l line) bool { return l.most > 1 }},
		{"Lost", "lost", func(l line) bool { return l.most > 1 && l.last == 0 }},
		{"Lost", "revoked", func(l line) bool { return l.most > 1 }},
		{"Lost", "shutdown", func(l line) bool { return l.most == 0 }},
		{"Failed renewals", "a", func(l line) bool { return l.most > 0 }},
		{"Session remaining", "a shop", func(l line) bool { return l.least == 0 && l.last > left.Seconds() }},
		{"Session remaining", "b shop", func(l line) bool { return l.least > left.Seconds() }},
		{"Requests by outcome", "done", func(l line) bool { return l.least > 0 }},
		{"Requests by outcome", "retried", func(l line) bool { return l.most > 0 }},
		{"Requests by outcome", "unknown", func(l line) bool { return l.most > 0 }},
		{"Requests without an answer", "UpdateItem", func(l line) bool { return l.most > 0 }},
		{"Clock width", "b", func(l line) bool { return l.least > 1 && l.most < 3 }},
		{"Capacity consumed", "write UpdateItem", func(l line) bool { return math.Abs(l.last-2/interval.Seconds()) < 0.2 }},
		{"Health", "a shop", func(l line) bool { return l.least == 0 && l.last == 1 }},
		{"Health", "b shop", func(l line) bool { return l.least == 1 }},
		{"Rounds", "b", func(l line) bool { return math.Abs(l.last-time.Minute.Seconds()/interval.Seconds()) < 4 }},
	} {
		if l, ok := shown[want.panel][want.legend]; !ok || !want.is(l) {
			t.Errorf("%s shows for %q %+v (there: %t); all: %+v", want.panel, want.legend, l, ok, shown[want.panel])
		}
	}
}
