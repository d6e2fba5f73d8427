package leasetable

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// A LeaseTable is the table of dynamolease, with its reaper and its alarms.
type LeaseTable struct {
	constructs.Construct

	table       awsdynamodb.TableV2
	reaper      awslambda.Function
	deadLetters awssqs.Queue
	alarms      []awscloudwatch.Alarm
	arns        []*string // of the table, in each of its Regions
}

// New adds a table to a stack, with its reaper, alarms and outputs. props may be nil.
//
// The error is a [PropsError], or says that the program of the reaper was not built. After an
// error, nothing was added.
func New(scope constructs.Construct, id string, props *Props) (*LeaseTable, error) {
	if scope == nil {
		return nil, fmt.Errorf("lease table %s: %w", id, refuse("scope", "must not be nil: pass the stack that will contain the table"))
	}
	if id == "" {
		return nil, fmt.Errorf("lease table: %w", refuse("id", "must not be empty: it names the construct in its scope"))
	}
	p := props.withDefaults()
	if err := p.validate(awscdk.Stack_Of(scope)); err != nil {
		return nil, fmt.Errorf("lease table %s: %w", id, err)
	}
	program, err := findProgram(p.Reaper.AssetDir)
	if err != nil {
		return nil, fmt.Errorf("lease table %s: find the reaper's program: %w", id, err)
	}
	t := &LeaseTable{}
	constructs.NewConstruct_Override(t, scope, &id)
	t.addTable(p)
	t.addReaper(p.Reaper, program)
	t.addSchedule(p.Reaper)
	t.addAlarms(p)
	if p.Dashboard {
		t.addDashboard()
	}
	t.addOutputs()
	return t, nil
}

// Table returns the table.
func (t *LeaseTable) Table() awsdynamodb.TableV2 { return t.table }

// Function returns the reaper.
func (t *LeaseTable) Function() awslambda.Function { return t.reaper }

// DeadLetters returns the queue of the reaper's runs that could not be started or failed twice.
func (t *LeaseTable) DeadLetters() awssqs.Queue { return t.deadLetters }

func (t *LeaseTable) addOutputs() {
	t.output("TableName", "Name of the table, for dynamolease.New", t.table.TableName())
	t.output("TableArn", "ARN of the table", t.table.TableArn())
	t.output("ReaperName", "Name of the function that reaps dead rows", t.reaper.FunctionName())
}

func (t *LeaseTable) output(id, description string, value *string) {
	awscdk.NewCfnOutput(t, &id, &awscdk.CfnOutputProps{Description: jsii.String(description), Value: value})
}
