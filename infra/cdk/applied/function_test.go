package applied_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/rie"
)

// runs is the response of the reaper after one run.
type runs struct {
	Deleted      int
	Stopped      string
	Complete     bool
	Resumed      bool
	ErrorMessage string `json:"errorMessage"`
}

// start starts the reaper's real program with the template's environment. A guard stands in front
// of the database.
func (w *world) start(t *testing.T, guard *iamproxy.Guard, env map[string]string) *rie.Process {
	t.Helper()
	proxy, err := guard.Proxy(w.server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	function, err := w.function()
	if err != nil {
		t.Fatal(err)
	}
	function.Bootstrap = rie.Build(t)
	function.Env["AWS_ENDPOINT_URL_DYNAMODB"] = proxy.URL
	for name, value := range env {
		function.Env[name] = value
	}
	return rie.Start(t.Context(), t, function)
}

// function returns the template's function, with its references resolved.
func (w *world) function() (f rie.Function, err error) {
	_, resource, err := w.Only("AWS::Lambda::Function")
	if err != nil {
		return f, err
	}
	environment, err := w.Resolve(resource.Properties["Environment"])
	if err != nil {
		return f, err
	}
	variables, _ := environment.(map[string]any)["Variables"].(map[string]any)
	f.Env = make(map[string]string)
	for name, value := range variables {
		f.Env[name] = fmt.Sprint(value)
	}
	timeout, _ := resource.Properties["Timeout"].(float64)
	f.Timeout = time.Duration(timeout) * time.Second
	return f, nil
}

func invoke(ctx context.Context, process *rie.Process) (report runs, err error) {
	body, status, err := process.Invoke(ctx, []byte("{}"))
	if err == nil {
		err = json.Unmarshal(body, &report)
	}
	if err != nil || status != 200 || report.ErrorMessage != "" {
		return report, fmt.Errorf("invoke the reaper: status %d, %s, %w", status, body, err)
	}
	return report, nil
}

// The function reads each variable that the stack sets.
func TestEnvironment(t *testing.T) {
	w := apply(t)
	function, err := w.function()
	if err != nil {
		t.Fatal(err)
	}
	if len(function.Env) != 4 {
		t.Errorf("the stack sets %v, want four variables", function.Env)
	}
	for name := range function.Env {
		process := w.start(t, iamproxy.NewGuard(nil, "pk"), map[string]string{name: "!"})
		if _, err := invoke(t.Context(), process); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is invalid: %v; want an error that names it", name, err)
		}
		process.Stop()
	}
}

// The alarm for runs that do not finish watches a metric that the reaper reports.
func TestAlarmMetric(t *testing.T) {
	w := apply(t)
	process := w.start(t, iamproxy.NewGuard(w.policy(t, reaper), "pk"), nil)
	if _, err := invoke(t.Context(), process); err != nil {
		t.Fatal(err)
	}
	process.Stop()
	reported := metrics(t, process.Logs())
	watched := 0
	for id, resource := range w.Resources {
		if resource.Type != "AWS::CloudWatch::Alarm" || resource.Properties["Namespace"] != "dynamolease" {
			continue
		}
		watched++
		properties, err := w.Resolve(resource.Properties)
		if err != nil {
			t.Fatal(err)
		}
		if metric := alarmMetric(properties.(map[string]any)); !slices.Contains(reported, metric) {
			t.Errorf("%s watches %s, and reported are %q", id, metric, reported)
		}
	}
	if watched == 0 {
		t.Error("no alarm watches a metric of the reaper")
	}
}

func alarmMetric(alarm map[string]any) string {
	dimension, _ := alarm["Dimensions"].([]any)[0].(map[string]any)
	return fmt.Sprint(alarm["Namespace"], " ", dimension["Name"], "=", dimension["Value"], " ", alarm["MetricName"])
}

// metrics returns the metrics of those lines in a log that are in CloudWatch's embedded metric
// format.
func metrics(t *testing.T, log string) (found []string) {
	t.Helper()
	for line := range strings.Lines(log) {
		var entry struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Namespace  string
					Dimensions [][]string
					Metrics    []struct{ Name string }
				}
			} `json:"_aws"`
			Table string
		}
		start := strings.Index(line, "{")
		if start < 0 || json.Unmarshal([]byte(line[start:]), &entry) != nil {
			continue
		}
		for _, directive := range entry.AWS.CloudWatchMetrics {
			for _, metric := range directive.Metrics {
				found = append(found, fmt.Sprint(directive.Namespace, " ", directive.Dimensions[0][0], "=", entry.Table, " ", metric.Name))
			}
		}
	}
	return found
}
