// Package rie runs a Lambda function for tests, under AWS's Runtime Interface Emulator: the real executable, as Lambda
// starts it, with its environment, its timeout and its end.
//
//	process := rie.Start(ctx, t, rie.Function{Bootstrap: rie.Build(t), Env: env, Timeout: 10 * time.Second})
//	body, status, err := process.Invoke(ctx, []byte("{}"))
//
// The emulator answers 200 to an invocation that failed or timed out, as Lambda does, and says so in the body; 502 when
// the function's process has ended. It takes one invocation at a time.
package rie
