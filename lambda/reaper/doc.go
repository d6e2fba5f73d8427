// Command reaper is an AWS Lambda function that deletes the dead rows of a dynamolease table. Each
// invocation runs Store.Reap once. Invoke it on a schedule. DynamoDB's own TTL does the same work,
// but may take days.
//
// # Environment
//
//	DYNAMOLEASE_TABLE     name or ARN of the table; required
//	DYNAMOLEASE_GRACE     how long a row stays after its ttl has passed, as a Go duration
//	                      such as 90m; default 0s, at most 8760h
//	DYNAMOLEASE_SEGMENTS  parts of the table to scan in parallel, 1 to 16; default 1
//	DYNAMOLEASE_LIMIT     deletes of one run at most, from 1; default no limit
//
// An empty variable counts as one that is not set. Credentials, Region and endpoint are the usual
// ones of an AWS program. The role needs dynamodb:Scan on the table, dynamodb:DeleteItem for the
// leading keys L#*, M#* and P#*, and dynamodb:GetItem and dynamodb:UpdateItem for the leading key
// R#reaper. To free the leases of sessions that are over, it needs dynamodb:GetItem for M#*, and
// dynamodb:UpdateItem for L#*.
//
// # Input and output
//
// The function ignores the event. A run continues from the place where the last run stopped. The
// response is a JSON object with the result of the run: scanned, due, deleted, freed, raced, kept,
// unreadable and unanswered count rows as ReapReport does; stopped says why the run stopped before
// the end of the table; complete says whether it reached the end.
//
// For each run, the log has one line "reaped", with that object under "run". If due rows cannot be
// read, a line "unreadable rows" of level WARN names them. Look at those rows: nothing will ever
// delete them.
//
// Another line is in CloudWatch's embedded metric format. It gives the namespace "dynamolease"
// these metrics for each Table: Scanned, Due, Deleted, Freed, Raced, Kept, Unreadable, Throttled,
// Complete (0 or 1), ReadUnits, WriteUnits and Duration (milliseconds). The line has level INFO.
// If you set a higher log level in Lambda, that drops the metrics as well. Set the function's log
// format to JSON.
//
// # Time
//
// A run stops by itself before the function's timeout. It reserves a tenth of the time, at most 2
// seconds. It keeps its position in the table, and the next run continues from there. A run may
// stop for that reason, at the limit, or because the store has no capacity to spare. That is no
// error if the run read at least one row. On SIGTERM a run stops at once, in the same way.
//
// # Failure
//
// An invocation fails, and so counts in the function's Errors metric, if
//
//   - the environment or the AWS configuration cannot be used. The error is a configurationError
//     that lists all problems. The process stays up, and every invocation returns that error. A
//     start that fails would show only an exit status;
//   - the table is missing, or the role lacks a permission. The error names the remedy;
//   - the store fails, or does not answer, beyond all retries;
//   - the run stopped before it read a single row.
//
// Even then, the function logs the result of the run so far, and writes the metrics. It is safe to
// retry, and to have several runs at one time, in one process or many: each delete is
// conditional.
package main
