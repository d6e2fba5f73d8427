package leasetable_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

// A table in your own stack, and the grant for your own service.
func ExampleNew() {
	add := func(stack awscdk.Stack, onCall awssns.ITopic, worker awsiam.IRole) error {
		leases, err := leasetable.New(stack, "Leases", &leasetable.Props{
			Alarms: leasetable.Alarms{Topic: onCall},
		})
		if err != nil {
			return err
		}
		err = leases.GrantHolder(worker, &leasetable.Scope{
			Groups: []string{"orders"}, Services: []string{"shop"},
		})
		return err
	}
	_ = add
}

// An account whose concurrency limit is too small to reserve a concurrent run.
func ExampleLeaseTable_Function() {
	var leases *leasetable.LeaseTable // as above
	if leases == nil {
		return
	}
	leases.Function().Node().DefaultChild().(awslambda.CfnFunction).AddPropertyDeletionOverride(jsii.String("ReservedConcurrentExecutions"))
}
