// Package examples has a runnable example for each use of dynamolease:
//
//	partitions_test.go  partition workers: each partition of a service is worked by one node, exactly once
//	leader_test.go      leader election
//	writer_test.go      a single writer: one boot of a stable identity, which proves that its predecessor is over
//	lambda_test.go      a Lambda function of which one invocation works at a time
//	migrate_test.go     carrying checkpoints over from another lease table
//	reaper_test.go      cleaning the table without the ready-made function
//
// Each runs against a database of its own. "go test ./examples" runs them all.
package examples
