// Package rie runs a Lambda function for tests, under AWS's Runtime Interface Emulator: the real
// executable, as Lambda starts it, with its environment, its timeout and its end.
//
//	process := rie.Start(ctx, t, rie.Function{
//		Bootstrap: rie.Build(t), Env: env, Timeout: 10 * time.Second,
//	})
//	body, status, err := process.Invoke(ctx, []byte("{}"))
//
// If an invocation fails or times out, the emulator answers 200, as Lambda does, and says so in the
// body. If the function's process has ended, it answers 502. It takes one invocation at a time.
package rie
