package leasetable

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// Sizes of the widgets: two graphs are side by side.
const (
	fullWidth   = 24
	graphWidth  = fullWidth / 2
	graphHeight = 6
)

// addDashboard adds a dashboard of the table, its reaper and its alarms. CloudWatch itself has no
// metrics of the nodes.
func (t *LeaseTable) addDashboard() {
	dashboard := awscloudwatch.NewDashboard(t, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{})
	dashboard.AddWidgets(t.alarmStatus())
	dashboard.AddWidgets(
		graph("Consumed capacity (units a second)", t.consumed("Read"), t.consumed("Write")),
		graph("Throttled requests", t.ofTable("ReadThrottleEvents"), t.ofTable("WriteThrottleEvents")),
	)
	dashboard.AddWidgets(
		graph("Refused conditional writes", t.ofTable("ConditionalCheckFailedRequests")),
		graph("Transactions in conflict", t.ofTable("TransactionConflict")),
	)
	dashboard.AddWidgets(
		graph("Reaper: rows", t.reaped("Scanned", "Sum"), t.reaped("Due", "Sum"), t.reaped("Deleted", "Sum"), t.reaped("Freed", "Sum"), t.reaped("Kept", "Sum"),
			t.reaped("Raced", "Sum"), t.reaped("Unreadable", "Sum")),
		graph("Reaper: capacity consumed (units)", t.reaped("ReadUnits", "Sum"), t.reaped("WriteUnits", "Sum"), t.reaped("Throttled", "Sum")),
	)
	dashboard.AddWidgets(
		graph("Reaper: longest run (ms)", t.reaped("Duration", "Maximum")),
		graph("Reaper: runs", t.reaped(metricComplete, "Sum"), t.reaper.MetricInvocations(statistic("Sum", alarmPeriod)),
			t.reaper.MetricErrors(statistic("Sum", alarmPeriod)),
			t.deadLetters.MetricApproximateNumberOfMessagesVisible(statistic("Maximum", alarmPeriod))),
	)
}

func (t *LeaseTable) alarmStatus() awscloudwatch.IWidget {
	alarms := make([]interfacesawscloudwatch.IAlarmRef, len(t.alarms))
	for i, a := range t.alarms {
		alarms[i] = a
	}
	return awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
		Title: jsii.String("Alarms"), Width: jsii.Number(fullWidth), Alarms: &alarms,
	})
}

// graph returns a widget that shows metrics over time.
func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: &title, Width: jsii.Number(graphWidth), Height: jsii.Number(graphHeight), Left: &metrics,
	})
}

// ofTable returns the sum of one of DynamoDB's metrics.
func (t *LeaseTable) ofTable(name string) awscloudwatch.IMetric {
	return t.table.Metric(&name, statistic("Sum", alarmPeriod))
}

// consumed returns the capacity that reads or writes have consumed a second, whatever the period of
// the graph is.
func (t *LeaseTable) consumed(kind string) awscloudwatch.IMetric {
	id := "consumed" + kind
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression:   jsii.String(id + " / PERIOD(" + id + ")"),
		Label:        &kind,
		Period:       seconds(alarmPeriod),
		UsingMetrics: &map[string]awscloudwatch.IMetric{id: t.ofTable("Consumed" + kind + "CapacityUnits")},
	})
}

// reaped returns one of the reaper's own metrics.
func (t *LeaseTable) reaped(name, statistic string) awscloudwatch.IMetric {
	return t.ofReaper(name, statistic, alarmPeriod)
}
