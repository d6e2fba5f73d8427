package leasetable_test

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

const (
	globalTable = "AWS::DynamoDB::GlobalTable"
	function    = "AWS::Lambda::Function"
	schedule    = "AWS::Scheduler::Schedule"
	alarms      = "AWS::CloudWatch::Alarm"
)

func TestTable(t *testing.T) {
	l := deploy(t)
	l.expect(globalTable, object{
		"KeySchema": list{
			object{"AttributeName": "pk", "KeyType": "HASH"}, object{"AttributeName": "sk", "KeyType": "RANGE"},
		},
		"AttributeDefinitions": list{
			object{"AttributeName": "pk", "AttributeType": "S"}, object{"AttributeName": "sk", "AttributeType": "S"},
		},
		"BillingMode":             "PAY_PER_REQUEST",
		"TimeToLiveSpecification": object{"AttributeName": "ttl", "Enabled": true},
		"Replicas": list{object{
			"DeletionProtectionEnabled":        true,
			"PointInTimeRecoverySpecification": object{"PointInTimeRecoveryEnabled": true},
		}},
		// An index would double the price of every renewal.
		"GlobalSecondaryIndexes": nil, "LocalSecondaryIndexes": nil,
		"SSESpecification": nil, "TableName": nil, "WriteOnDemandThroughputSettings": nil,
	})
	assertions.Template_FromStack(l.stack, nil).HasResource(jsii.String(globalTable), object{
		"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
	})
}

func TestTableAsAskedFor(t *testing.T) {
	l := newLab(t, "us-east-1")
	key := awskms.NewKey(l.stack, jsii.String("Key"), nil)
	l.add(func(p *leasetable.Props) {
		p.TableName, p.MaxReadUnits, p.MaxWriteUnits = "leases", 500, 200
		p.RemovalPolicy, p.Deletable, p.WithoutTTL = awscdk.RemovalPolicy_DESTROY, true, true
		p.Encryption = awsdynamodb.TableEncryptionV2_CustomerManagedKey(key, nil)
	})
	l.expect(globalTable, object{
		"TableName":                       "leases",
		"TimeToLiveSpecification":         nil,
		"SSESpecification":                object{"SSEEnabled": true, "SSEType": "KMS"},
		"WriteOnDemandThroughputSettings": object{"MaxWriteRequestUnits": 200},
		"Replicas": list{object{
			"DeletionProtectionEnabled":      false,
			"ReadOnDemandThroughputSettings": object{"MaxReadRequestUnits": 500},
		}},
	})
	assertions.Template_FromStack(l.stack, nil).HasResource(jsii.String(globalTable), object{"DeletionPolicy": "Delete"})
}

func TestReaper(t *testing.T) {
	l := deploy(t)
	l.expect(function, object{
		"Runtime": "provided.al2023", "Architectures": list{"arm64"}, "Handler": "bootstrap",
		"MemorySize": 128, "Timeout": 60, "ReservedConcurrentExecutions": 1,
		"LoggingConfig": object{"LogFormat": "JSON", "ApplicationLogLevel": "INFO"},
		"Layers":        nil, "VpcConfig": nil,
	})
	l.expect("AWS::Lambda::EventInvokeConfig", object{"MaximumRetryAttempts": 1, "MaximumEventAgeInSeconds": 300})
	l.expect("AWS::Logs::LogGroup", object{"RetentionInDays": 30})
	l.expect("AWS::SQS::Queue", object{"SqsManagedSseEnabled": true, "MessageRetentionPeriod": 14 * 24 * 3600})
	l.expect("AWS::SQS::QueuePolicy", object{"PolicyDocument": object{"Statement": list{object{
		"Effect": "Deny", "Action": "sqs:*", "Condition": object{"Bool": object{"aws:SecureTransport": "false"}},
	}}}})
}

// The function reads what the stack sets.
func TestReaperEnvironment(t *testing.T) {
	defaults := environment(deploy(t))
	table := defaults["DYNAMOLEASE_TABLE"]
	if name, _ := table.(string); !strings.HasPrefix(name, "<LeasesTable") {
		t.Errorf("the table is %v", table)
	}
	delete(defaults, "DYNAMOLEASE_TABLE")
	if want := (object{"DYNAMOLEASE_GRACE": "0s", "DYNAMOLEASE_SEGMENTS": "1"}); len(differences("", defaults, want)) > 0 || len(defaults) != len(want) {
		t.Errorf("by default it is %v, want %v", defaults, want)
	}
	asked := environment(deploy(t, func(p *leasetable.Props) {
		p.Reaper.Grace, p.Reaper.Segments, p.Reaper.Limit = 90*time.Minute, 4, 5000
	}))
	want := object{"DYNAMOLEASE_GRACE": "1h30m0s", "DYNAMOLEASE_SEGMENTS": "4", "DYNAMOLEASE_LIMIT": "5000"}
	for _, d := range differences("Variables", asked, want) {
		t.Error(d)
	}
}

func environment(l *lab) object {
	return l.only(function)["Environment"].(object)["Variables"].(object)
}

func TestSchedule(t *testing.T) {
	l := deploy(t)
	l.expect(schedule, object{
		"ScheduleExpression": "rate(5 minutes)",
		"FlexibleTimeWindow": object{"Mode": "OFF"},
		"State":              nil, // enabled
		"Target":             object{"RetryPolicy": object{"MaximumRetryAttempts": 1, "MaximumEventAgeInSeconds": 300}},
	})
	target := l.only(schedule)["Target"].(object)
	if arn := target["Arn"].(string); !strings.HasPrefix(arn, "<LeasesReaper") {
		t.Errorf("it starts %s", arn)
	}
	if arn := target["DeadLetterConfig"].(object)["Arn"].(string); !strings.HasPrefix(arn, "<LeasesDeadLetters") {
		t.Errorf("what could not be started goes to %s", arn)
	}
	often := deploy(t, func(p *leasetable.Props) { p.Reaper.Interval = time.Minute })
	often.expect(schedule, object{"ScheduleExpression": "rate(1 minute)"})
	seldom := deploy(t, func(p *leasetable.Props) { p.Reaper.Interval = 24 * time.Hour })
	seldom.expect(schedule, object{"ScheduleExpression": "rate(1440 minutes)"})
	const longest = 6 * 3600 // the most that Lambda takes
	seldom.expect("AWS::Lambda::EventInvokeConfig", object{"MaximumEventAgeInSeconds": longest})
	off := deploy(t, func(p *leasetable.Props) { p.Reaper.Unscheduled = true }).template()
	if _, _, err := off.Only(schedule); err == nil {
		t.Error("there is a schedule all the same")
	}
	if _, _, err := off.Only(function); err != nil {
		t.Error(err)
	}
}

func TestAlarms(t *testing.T) {
	l := newLab(t, "")
	topic := awssns.NewTopic(l.stack, jsii.String("Topic"), nil)
	l.add(func(p *leasetable.Props) {
		p.Alarms = leasetable.Alarms{Topic: topic, RefusedWrites: 70}
		p.Reaper.Interval = 20 * time.Minute
	})
	tmpl := l.template()
	watched := make(map[string]object)
	for id, r := range tmpl.Resources {
		if r.Type != alarms {
			continue
		}
		for _, d := range differences(id, r.Properties, object{"TreatMissingData": "notBreaching"}) {
			t.Error(d)
		}
		for _, action := range []string{"AlarmActions", "OKActions"} {
			if len(r.Properties[action].(list)) != 1 {
				t.Errorf("%s has the %s %v", id, action, r.Properties[action])
			}
		}
		name, ok := r.Properties["MetricName"].(string)
		if !ok {
			name = "throttles"
		}
		watched[name] = r.Properties
	}
	for name, want := range map[string]object{
		"Errors":                             {"Namespace": "AWS/Lambda", "Statistic": "Sum", "Threshold": 0, "Period": 1200, "EvaluationPeriods": 1},
		"ApproximateNumberOfMessagesVisible": {"Namespace": "AWS/SQS", "Statistic": "Maximum", "Threshold": 0},
		"Complete":                           {"Namespace": "dynamolease", "Statistic": "Maximum", "Threshold": 1, "Period": 1200, "EvaluationPeriods": 3, "ComparisonOperator": "LessThanThreshold"},
		"ConditionalCheckFailedRequests":     {"Namespace": "AWS/DynamoDB", "Statistic": "Sum", "Threshold": 70, "Period": 300},
		"throttles":                          {"Threshold": 0, "EvaluationPeriods": 1, "ComparisonOperator": "GreaterThanThreshold"},
	} {
		for _, d := range differences(name, watched[name], want) {
			t.Error(d)
		}
	}
	if len(watched) != 5 {
		t.Errorf("%d alarms are there, want 5", len(watched))
	}
	quiet := deploy(t).template()
	for id, r := range quiet.Resources {
		if r.Type == alarms && r.Properties["AlarmActions"] != nil {
			t.Errorf("%s tells %v without a topic", id, r.Properties["AlarmActions"])
		}
	}
}

func TestOutputs(t *testing.T) {
	outputs := assertions.Template_FromStack(deploy(t).stack, nil).FindOutputs(jsii.String("*"), nil)
	var names []string
	for name := range *outputs {
		names = append(names, strings.TrimRight(name, "0123456789ABCDEF"))
	}
	slices.Sort(names)
	if want := []string{"LeasesReaperName", "LeasesTableArn", "LeasesTableName"}; !slices.Equal(names, want) {
		t.Errorf("they are %v, want %v", names, want)
	}
}

// Nothing changes without a change: a deployment of unchanged code must find nothing to do.
func TestSameTemplateAgain(t *testing.T) {
	dir := program(t, elf.EM_AARCH64)
	same := func(p *leasetable.Props) { p.Reaper.AssetDir = dir }
	first, second := deploy(t, same).template(), deploy(t, same).template()
	for id, r := range first.Resources {
		for _, d := range differences(id, second.Resources[id].Properties, r.Properties) {
			t.Error(d)
		}
	}
	if len(first.Resources) != len(second.Resources) || len(first.Resources) < 10 {
		t.Errorf("%d resources, then %d", len(first.Resources), len(second.Resources))
	}
}
