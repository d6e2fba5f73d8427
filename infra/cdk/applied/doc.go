// Package applied tests the synthesized template itself. The tests make the table from the template
// in a real DynamoDB-compatible server. The reaper's real program runs with the template's
// environment. The template's policies must allow every request. So the tests show that code and
// template fit together. They are not CloudFormation, and not IAM.
package applied
