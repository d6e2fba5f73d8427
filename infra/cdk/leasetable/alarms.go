package leasetable

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/jsii-runtime-go"
)

// The reaper reports this metric: 1 if a run reached the end of the table, and 0 otherwise.
const (
	metricNamespace = "dynamolease"
	metricTable     = "Table"
	metricComplete  = "Complete"
)

// alarmPeriod is the time over which a metric is aggregated.
const alarmPeriod = 5 * time.Minute

// An alarm goes off when its metric has been on the wrong side of its threshold for that many
// periods.
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
		{"ReaperFails", "Runs of the reaper fail: its log says why",
			t.reaper.MetricErrors(statistic("Sum", run)), above, 0, 1},
		{"ReaperIsGivenUp", "Runs of the reaper could not be started or failed twice: look at its log, then empty the queue of dead letters",
			t.deadLetters.MetricApproximateNumberOfMessagesVisible(statistic("Maximum", alarmPeriod)), above, 0, 1},
		{"ReaperDoesNotFinish", "The reaper has not reached the end of the table for three intervals: give it more time, segments or capacity",
			t.completeRuns(run), below, 1, 3},
		{"Throttled", "DynamoDB throttles requests of the table: leases may run out",
			t.throttles(), above, 0, 1},
		{"RefusedWrites", "DynamoDB refuses many conditional writes: two processes may use one name, or too many nodes race",
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

// completeRuns returns a metric that is 1 if a run in the period reached the end of the table.
func (t *LeaseTable) completeRuns(period time.Duration) awscloudwatch.IMetric {
	return t.ofReaper(metricComplete, "Maximum", period)
}

// ofReaper returns one of the metrics that the reaper itself reports.
func (t *LeaseTable) ofReaper(name, statistic string, period time.Duration) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     jsii.String(metricNamespace),
		MetricName:    &name,
		DimensionsMap: &map[string]*string{metricTable: t.table.TableName()},
		Statistic:     &statistic,
		Period:        seconds(period),
	})
}

// throttles counts the throttled reads and writes.
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
