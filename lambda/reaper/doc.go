// Command reaper is an AWS Lambda function that deletes the dead rows of a dynamolease table: Store.Reap, once for each
// invocation. Invoke it on a schedule. DynamoDB's own TTL does the same work, but may take days over it.
//
// # Environment
//
//	DYNAMOLEASE_TABLE     name or ARN of the table; required
//	DYNAMOLEASE_GRACE     how long a row stays after its ttl has passed, as a Go duration such as 90m; default 0s, at most 8760h
//	DYNAMOLEASE_SEGMENTS  parts of the table that are scanned at the same time, 1 to 16; default 1
//	DYNAMOLEASE_LIMIT     deletes of one run at most, from 1; default no limit
//
// A variable that is empty counts as one that is not set. Credentials, Region and endpoint are the usual ones of an AWS
// program. The role needs dynamodb:Scan on the table, dynamodb:DeleteItem for the leading keys L#*, M#* and P#*, and
// dynamodb:GetItem and dynamodb:UpdateItem for the leading key R#reaper.
//
// # Input and output
//
// The event is not looked at; a run goes on where the last one stopped. The response is a JSON object that says what the
// run did: scanned, due, deleted, raced, kept, unreadable and unanswered count rows as ReapReport does, stopped says why
// the run ended before the end of the table, and complete whether it got there.
//
// The log has one line "reaped" for each run, with the same object under "run". Rows that are due and cannot be read are named in a
// line "unreadable rows" of level WARN; look at them, as nothing will ever delete them. Another line is in CloudWatch's
// embedded metric format, so that the namespace "dynamolease" has these metrics for each Table: Scanned, Due, Deleted,
// Raced, Kept, Unreadable, Throttled, Complete (0 or 1), ReadUnits, WriteUnits and Duration (milliseconds). It has level
// INFO: a log level above that, set in Lambda, drops the metrics as well. Set the function's log format to JSON.
//
// # Time
//
// A run ends by itself before the function's timeout: a tenth of it before, at most 2 seconds. It keeps its position in
// the table, and the next run goes on there. A run that ended for that reason, at the limit, or because the store has no
// capacity to spare, is no error as long as it read any row. On SIGTERM a run ends at once in the same way.
//
// # Failure
//
// An invocation fails, and so counts in the function's Errors metric, when
//
//   - the environment or the AWS configuration cannot be used: the error is a configurationError with all that is wrong.
//     The process stays up and every invocation says so again; a failing start would show no more than an exit status;
//   - the table is missing, or the role is not allowed to do something: the error says what to do;
//   - the store fails or stays silent beyond all retries;
//   - the run ended before it read a single row.
//
// What the run did until then is logged all the same, and the metrics with it. Nothing is wrong with retrying, or with
// several runs at the same time, in one process or many: each delete is conditional.
package main
