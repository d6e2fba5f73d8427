// Package demo is a small distributed program that shows what the coordinator and fenced work promise, and checks it.
//
// A parent process starts the database and four worker processes. Together the workers count the words of every .go
// file of a directory, split into 64 partitions by path. Each worker runs a coordinator, which calls its handler for each
// partition that falls to it. The handler adds what it counts to the partition's result, chunk by chunk: an addition that
// must not happen twice, in one transaction with a checkpoint that says where to go on. In the middle the parent kills
// one worker and stops another for longer than the ttl.
//
// What a program needs of that is in handler.go and worker.go; the rest is the parent, the view and the checks.
//
// # What is checked
//
// No two workers may ever have counted on the lease of one partition at the same time, and each file must go into the
// results exactly once. Each worker appends to a file of its own, before it acts on it, what its handlers do and are told,
// and until when they count on the lease. The result of a partition lists the chunks that were added to it, with who did
// it under which epoch; that list grows in the same update as the sums. The parent compares all of this when it is over,
// with the input and with a count by itself; see [judge].
//
// A worker that was stopped finds out late that its leases are over. Some of its handlers are about to add a chunk then,
// and do so before they hear of it: the store turns these away, which the demo counts. Others had added one without having
// heard the answer: those count if they came before the next owner, who has gone on after them.
package demo
