package leasetable

import (
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// addReaper adds the function that deletes dead rows.
func (t *LeaseTable) addReaper(r Reaper, program string) {
	t.deadLetters = awssqs.NewQueue(t, jsii.String("DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
		RemovalPolicy:   awscdk.RemovalPolicy_DESTROY,
	})
	logs := awslogs.NewLogGroup(t, jsii.String("ReaperLogs"), &awslogs.LogGroupProps{
		Retention:     awslogs.RetentionDays_ONE_MONTH,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	t.reaper = awslambda.NewFunction(t, jsii.String("Reaper"), &awslambda.FunctionProps{
		Description:           jsii.String("Deletes dead rows from the table of dynamolease"),
		Runtime:               awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:          awslambda.Architecture_ARM_64(),
		Handler:               jsii.String(programName),
		Code:                  awslambda.Code_FromAsset(&program, nil),
		Environment:           t.environment(r),
		MemorySize:            jsii.Number(128),
		Timeout:               seconds(r.Timeout),
		Role:                  t.reaperRole(logs),
		LogGroup:              logs,
		LoggingFormat:         awslambda.LoggingFormat_JSON,
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO, // the level of its metrics
		SystemLogLevelV2:      awslambda.SystemLogLevel_INFO,
		DeadLetterQueue:       t.deadLetters,

		// Runs may overlap without harm, but overlaps bring nothing. The next run makes up for a
		// missed run.
		ReservedConcurrentExecutions: jsii.Number(1),
		RetryAttempts:                jsii.Number(1),
		MaxEventAge:                  eventAge(r.Interval),
	})
}

func (t *LeaseTable) environment(r Reaper) *map[string]*string {
	variables := map[string]*string{
		"DYNAMOLEASE_TABLE":    t.table.TableName(),
		"DYNAMOLEASE_GRACE":    jsii.String(r.Grace.String()),
		"DYNAMOLEASE_SEGMENTS": jsii.String(strconv.Itoa(r.Segments)),
	}
	if r.Limit > 0 {
		variables["DYNAMOLEASE_LIMIT"] = jsii.String(strconv.Itoa(r.Limit))
	}
	return &variables
}

// reaperRole returns a role that allows what Store.Reap does, and nothing else. So even a mistake
// in the reaper cannot touch rows of other kinds.
func (t *LeaseTable) reaperRole(logs awslogs.LogGroup) awsiam.Role {
	role := awsiam.NewRole(t, jsii.String("ReaperRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	logs.GrantWrite(role)
	arns := []*string{t.table.TableArn()}
	role.AddToPolicy(allow(arns, nil, "Scan"))
	role.AddToPolicy(allow(arns, likeKeys(leasePrefix+"*", memberPrefix+"*", nodePrefix+"*"), "DeleteItem"))
	role.AddToPolicy(allow(arns, theseKeys(positionKey), "GetItem", "UpdateItem"))
	role.AddToPolicy(allow(arns, likeKeys(memberPrefix+"*"), "GetItem"))   // to see which sessions are over
	role.AddToPolicy(allow(arns, likeKeys(leasePrefix+"*"), "UpdateItem")) // to free their leases
	t.grantKey(role, true)
	return role
}

// eventAge returns how long a run may wait for its turn: until the next one is due, but not longer
// than Lambda allows.
func eventAge(interval time.Duration) awscdk.Duration { return seconds(min(interval, 6*time.Hour)) }

func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
