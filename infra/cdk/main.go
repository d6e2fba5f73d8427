// Command cdk is the CDK app that deploys the table of dynamolease alone. Your own stacks use
// package leasetable.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

func main() {
	err := synth(nil)
	jsii.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dynamolease:", err)
		os.Exit(1)
	}
}

// synth writes the template into the folder that the CDK command line wants. Props can name another
// folder.
func synth(props *awscdk.AppProps) error {
	app := awscdk.NewApp(props)
	stack := awscdk.NewStack(app, jsii.String("Dynamolease"), &awscdk.StackProps{
		Description: jsii.String("The table of dynamolease, and the reaper of its dead rows"),
	})
	if _, err := leasetable.New(stack, "Leases", nil); err != nil {
		return err
	}
	app.Synth(nil)
	return nil
}
