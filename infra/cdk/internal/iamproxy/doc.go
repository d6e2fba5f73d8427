// Package iamproxy stands between a program and a DynamoDB-compatible server, and lets through what an IAM policy allows.
// The server itself looks at no policy.
//
// It is for tests that a program and its policy fit together: a [Guard] refuses what the policy does not allow, as IAM
// would, and afterwards tells what the policy allows that was never needed ([Guard.Unused]). It knows the few elements of
// policies that are in use here; [Parse] fails on any other, so that nothing is taken for allowed, or for refused, that was
// not understood.
package iamproxy
