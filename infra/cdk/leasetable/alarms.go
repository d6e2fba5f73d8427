package leasetable

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"
)

// The metric by which the reaper tells whether a run got to the end of the table: 1, or 0.
const (
	metricNamespace = "dynamolease"
	metricTable     = "Table"
	metricComplete  = "Complete"
)

// alarmPeriod is what figures are added up over.
const alarmPeriod = 5 * time.Minute

// An alarm goes off when a metric has been on the wrong side of its threshold for so many periods.
type alarm struct {
	id, description string
	metric          awscloudwatch.IMetric
	comparison      awscloudwatch.ComparisonOperator
	threshold       int
	periods         int
}

func (t *LeaseTable) addAlarms(p Props) {
	const above, below = awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD, awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	run := max(p.Reaper.Interval, alarmPeriod)
	for _, a := range []alarm{
		{"ReaperFails", "Runs of the reaper fail: see its log",
			t.reaper.MetricErrors(statistic("Sum", run)), above, 0, 1},
		{"ReaperIsGivenUp", "Runs of the reaper were given up: look into the queue of dead letters, and empty it",
			t.deadLetters.MetricApproximateNumberOfMessagesVisible(statistic("Maximum", alarmPeriod)), above, 0, 1},
		{"ReaperDoesNotFinish", "The reaper has not got to the end of the table for three intervals: give it more time, segments or capacity",
			t.completeRuns(run), below, 1, 3},
		{"Throttled", "DynamoDB turns requests of the table away: leases may run out",
			t.throttles(), above, 0, 1},
		{"RefusedWrites", "Many conditional writes are refused: two processes may be using one name, or too many nodes race",
			t.table.MetricConditionalCheckFailedRequests(statistic("Sum", alarmPeriod)), above, p.Alarms.RefusedWrites, 1},
	} {
		t.addAlarm(a, p.Alarms)
	}
}

func (t *LeaseTable) addAlarm(a alarm, to Alarms) {
	made := awscloudwatch.NewAlarm(t, &a.id, &awscloudwatch.AlarmProps{
		AlarmDescription:   &a.description,
		Metric:             a.metric,
		ComparisonOperator: a.comparison,
		Threshold:          jsii.Number(a.threshold),
		EvaluationPeriods:  jsii.Number(a.periods),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	t.alarms = append(t.alarms, made)
	if to.Topic != nil {
		action := awscloudwatchactions.NewSnsAction(to.Topic)
		made.AddAlarmAction(action)
		made.AddOkAction(action)
	}
}

// completeRuns is 1 where a run within the period got to the end of the table.
func (t *LeaseTable) completeRuns(period time.Duration) awscloudwatch.IMetric {
	return t.ofReaper(metricComplete, "Maximum", period)
}

// ofReaper is one of the metrics that the reaper itself reports.
func (t *LeaseTable) ofReaper(name, statistic string, period time.Duration) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     jsii.String(metricNamespace),
		MetricName:    &name,
		DimensionsMap: &map[string]*string{metricTable: t.table.TableName()},
		Statistic:     &statistic,
		Period:        seconds(period),
	})
}

// throttles counts reads and writes that were turned away.
func (t *LeaseTable) throttles() awscloudwatch.IMetric {
	options := statistic("Sum", alarmPeriod)
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String("FILL(reads, 0) + FILL(writes, 0)"),
		Label:      jsii.String("Throttled requests"),
		Period:     options.Period,
		UsingMetrics: &map[string]awscloudwatch.IMetric{
			"reads":  t.table.Metric(jsii.String("ReadThrottleEvents"), options),
			"writes": t.table.Metric(jsii.String("WriteThrottleEvents"), options),
		},
	})
}

func statistic(name string, period time.Duration) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Statistic: &name, Period: seconds(period)}
}
