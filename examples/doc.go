// Package examples has a runnable example for each use of dynamolease:
//
//	partitions_test.go  partition workers: one node works each partition, exactly once
//	hints_test.go       nodes that tell each other over HTTP when something has changed
//	leader_test.go      leader election
//	writer_test.go      a single writer: one boot of a stable identity, with proof that its
//	                    predecessor is over
//	lambda_test.go      a Lambda function of which one invocation works at a time (a lock)
//	migrate_test.go     carries checkpoints over from another lease table
//	reaper_test.go      cleans the table without the ready-made function
//
// Each example runs against a database of its own. "go test ./examples" runs them all.
package examples
