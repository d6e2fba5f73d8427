// Package demo is a small distributed program that shows what the coordinator and fenced work
// promise, and checks it.
//
// A parent process starts the database and four worker processes. Together the workers count the
// words of every .go file of a directory, split into 64 partitions by path. Each worker runs a
// coordinator, which calls its handler for each of the worker's partitions. The handler adds its
// counts to the partition's result, chunk by chunk. Such an addition must not happen twice: it
// shares a transaction with a checkpoint that says where to go on. In the middle the parent kills
// one worker and stops another for longer than the ttl.
//
// A program of your own needs the parts in handler.go and worker.go; the rest is the parent, the
// view and the checks.
//
// # Checks
//
// No two workers may ever have relied on the lease of one partition at the same time, and each file
// must go into the results exactly once. Each worker appends to a file of its own what its handlers
// do and hear, and until when they rely on the lease, before it acts on it. The result of a
// partition lists its chunks, each with its worker and epoch; the list grows in the same update as
// the sums. At the end the parent compares all of this with the input and with a count of its own;
// see [judge].
//
// A worker that was stopped finds out late that its leases are over. Some of its handlers try to
// add a chunk before they hear of it: the store refuses these, and the demo counts the refusals.
// Others have added a chunk without hearing the answer: such a chunk counts if it came before the
// next owner, which then went on after it.
package demo
