// Package leasetable provisions the table of dynamolease with AWS CDK. With the table come the
// Lambda function that reaps dead rows, its schedule, its alarms, and grants for the programs that
// use the table.
//
//	leases, err := leasetable.New(stack, "Leases", nil)
//	...
//	err = leases.GrantHolder(task, &leasetable.Scope{
//		Groups: []string{"orders"}, Services: []string{"shop"},
//	})
//
// [New] and the grants return an error if a configuration cannot work, before they add anything to
// the stack. CDK itself panics if it refuses its input.
package leasetable
