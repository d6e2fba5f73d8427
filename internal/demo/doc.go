// Package demo is a small distributed program that shows what leases promise, and checks it.
//
// A parent process starts the database and four worker processes. Together the workers count the words of every .go
// file of a directory, split into 64 partitions by path. Each worker owns partitions through leases, counts them one
// after the other, and writes each result in a transaction that fails unless it still holds the lease. In the middle
// the parent kills one worker and stops another for longer than the ttl.
//
// # What is checked
//
// No partition may be lost or counted twice, and no two workers may ever have believed at the same time that they own
// one. Each worker appends to a file of its own, before it acts on it, what it believes: a lease gained, until when it
// may count on it, and the end of it; and what it does: each file counted, each result written. The parent reads these
// records when all is over, and [judge] compares them.
//
// The belief of a worker in a lease lasts until the lease's own deadline, and no longer when the process is stopped
// then: it only finds out later. What it must not do is act on it. A file counts only if the lease is still there after
// it was read, so a worker that was stopped in between drops it. A write that left before the stop, or was about to,
// cannot be called back; that is why the store checks the lease once more in the transaction.
package demo
