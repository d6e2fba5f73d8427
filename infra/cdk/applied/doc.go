// Package applied has the tests that take the synthesized template at its word: the table is made from it in a real
// DynamoDB-compatible server, the reaper's real program runs with its environment, and every request has to be allowed by
// its policies. They show that code and template fit together. They are not CloudFormation, and not IAM.
package applied
