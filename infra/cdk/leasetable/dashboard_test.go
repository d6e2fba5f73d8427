package leasetable_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

const dashboards = "AWS::CloudWatch::Dashboard"

// A shownMetric is a metric that a graph of the dashboard names.
type shownMetric struct {
	namespace, name, dimension, of, statistic string
}

func TestDashboard(t *testing.T) {
	l := deploy(t, func(p *leasetable.Props) { p.Dashboard = true })
	widgets := l.widgets()
	shown := make(map[shownMetric]bool)
	var alarmsShown list
	titles := make(map[string]bool)
	for _, w := range widgets {
		title := w["properties"].(object)["title"].(string)
		if titles[title] {
			t.Errorf("two graphs are called %q", title)
		}
		titles[title] = true
		switch w["type"] {
		case "alarm":
			alarmsShown = w["properties"].(object)["alarms"].(list)
		case "metric":
			metrics := l.metrics(w)
			if len(metrics) == 0 {
				t.Errorf("%q shows nothing", title)
			}
			for _, m := range metrics {
				shown[m] = true
			}
		}
	}
	if len(alarmsShown) != 5 {
		t.Errorf("the status of %d alarms is shown: %v", len(alarmsShown), alarmsShown)
	}
	table, _, err := l.template().Only(globalTable)
	if err != nil {
		t.Fatal(err)
	}
	var want []shownMetric
	for _, name := range []string{
		"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents", "ConditionalCheckFailedRequests", "TransactionConflict",
	} {
		want = append(want, shownMetric{"AWS/DynamoDB", name, "TableName", table, "Sum"})
	}
	for _, name := range reported(t) {
		statistic := "Sum"
		if name == "Duration" {
			statistic = "Maximum"
		}
		want = append(want, shownMetric{"dynamolease", name, "Table", table, statistic})
	}
	for _, m := range want {
		if !shown[m] {
			t.Errorf("it does not show %+v", m)
		}
		delete(shown, m)
	}
	for m := range shown {
		if m.namespace != "AWS/Lambda" && m.namespace != "AWS/SQS" {
			t.Errorf("it shows %+v, which is not reported", m)
		}
	}
}

func TestNoDashboardByDefault(t *testing.T) {
	if _, _, err := deploy(t).template().Only(dashboards); err == nil {
		t.Error("there is one")
	}
}

// Widgets fit on the page, and no widget covers another.
func TestDashboardLayout(t *testing.T) {
	const columns = 24
	taken := make(map[string]bool)
	for _, w := range deploy(t, func(p *leasetable.Props) { p.Dashboard = true }).widgets() {
		x, y, width, height := int(w["x"].(float64)), int(w["y"].(float64)), int(w["width"].(float64)), int(w["height"].(float64))
		if x+width > columns {
			t.Errorf("%v does not fit", w)
		}
		for i := range width * height {
			at := fmt.Sprint(x+i%width, " ", y+i/width)
			if taken[at] {
				t.Fatalf("%v covers another", w)
			}
			taken[at] = true
		}
	}
}

// reported returns the names of the metrics that the reaper's program reports.
func reported(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("../../../lambda/reaper/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`\{"(\w+)", "\w+", \w`).FindAllSubmatch(source, -1) {
		names = append(names, string(match[1]))
	}
	if !slices.Contains(names, "Complete") || len(names) < 10 {
		t.Fatalf("the reaper seems to report only %v", names)
	}
	return names
}

// widgets returns the widgets of the one dashboard. References have become logical names.
func (l *lab) widgets() (widgets []object) {
	l.Helper()
	_, r, err := l.template().Only(dashboards)
	if err != nil {
		l.Fatal(err)
	}
	var body struct{ Widgets []object }
	if err := json.Unmarshal([]byte(l.joined(r.Properties["DashboardBody"])), &body); err != nil {
		l.Fatal(err)
	}
	if len(body.Widgets) == 0 {
		l.Fatal("the dashboard is empty")
	}
	return body.Widgets
}

// joined returns the text that Fn::Join makes of text and references.
func (l *lab) joined(v any) string {
	l.Helper()
	switch v := v.(type) {
	case string:
		return v
	case object:
		if join, ok := v["Fn::Join"].(list); ok && join[0] == "" {
			var text strings.Builder
			for _, part := range join[1].(list) {
				text.WriteString(l.joined(part))
			}
			return text.String()
		}
		if id, ok := v["Ref"].(string); ok {
			return id
		}
		if of, ok := v["Fn::GetAtt"].(list); ok {
			return fmt.Sprint(of[0])
		}
	}
	l.Fatalf("%v is not known", v)
	return ""
}

// metrics returns the metrics of a graph, without the expressions over them.
func (l *lab) metrics(widget object) (shown []shownMetric) {
	l.Helper()
	for _, m := range widget["properties"].(object)["metrics"].(list) {
		m := m.(list)
		if len(m) < 4 { // an expression
			continue
		}
		options, _ := m[len(m)-1].(object)
		statistic, _ := options["stat"].(string)
		shown = append(shown, shownMetric{m[0].(string), m[1].(string), m[2].(string), m[3].(string), statistic})
	}
	return shown
}
