package leasetable

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"
)

// addSchedule lets EventBridge Scheduler start the reaper. CDK's ready-made target would allow the
// scheduler to invoke all versions of the function. This role allows only what the scheduler does.
func (t *LeaseTable) addSchedule(r Reaper) {
	if r.Unscheduled {
		return
	}
	role := awsiam.NewRole(t, jsii.String("ScheduleRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{
				"StringEquals": map[string]*string{"aws:SourceAccount": awscdk.Stack_Of(t).Account()},
			},
		}),
	})
	role.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("lambda:InvokeFunction"), Resources: &[]*string{t.reaper.FunctionArn()},
	}))
	role.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("sqs:SendMessage"), Resources: &[]*string{t.deadLetters.QueueArn()},
	}))
	schedule := awsscheduler.NewCfnSchedule(t, jsii.String("Schedule"), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String("Starts the reaper of dynamolease"),
		ScheduleExpression: jsii.String(rate(r.Interval)),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:              t.reaper.FunctionArn(),
			RoleArn:          role.RoleArn(),
			Input:            jsii.String("{}"),
			DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: t.deadLetters.QueueArn()},
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(r.Interval.Seconds()),
				MaximumRetryAttempts:     jsii.Number(1),
			},
		},
	})
	// The role must be able to send before the schedule is checked.
	schedule.Node().AddDependency(role)
}

func rate(interval time.Duration) string {
	if interval == time.Minute {
		return "rate(1 minute)"
	}
	return fmt.Sprintf("rate(%d minutes)", interval/time.Minute)
}
