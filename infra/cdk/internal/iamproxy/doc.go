// Package iamproxy stands between a program and a DynamoDB-compatible server, and lets through only
// the requests that an IAM policy allows. The server itself knows no policies.
//
// It is for tests that a program and its policy fit together. A [Guard] refuses what the policy
// does not allow, as IAM would. Afterwards it lists the permissions that nothing needed
// ([Guard.Unused]). It knows only the elements of policies that are in use here. [Parse] fails on
// any other element, so the guard never allows or refuses a request because of something that it
// did not understand.
package iamproxy
