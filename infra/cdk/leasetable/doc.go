// Package leasetable provisions the table of dynamolease with AWS CDK, and what belongs to it: the Lambda function that
// reaps dead rows, its schedule, its alarms, and grants for the programs that use the table.
//
//	leases, err := leasetable.New(stack, "Leases", nil)
//	...
//	err = leases.GrantHolder(task, &leasetable.Scope{Groups: []string{"orders"}, Services: []string{"shop"}})
//
// [New] and the grants return errors for what cannot work, before anything is added to the stack. CDK itself panics
// where it is given something that it refuses.
package leasetable
