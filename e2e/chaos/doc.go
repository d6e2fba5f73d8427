// Package chaos runs coordinators and process leases in real processes, and disturbs these. It
// kills them and starts them again under their names. It stops them for longer than their leases
// last, and lets them go on. It cuts them off from the database. It also kills the database, which
// keeps its tables on disk.
//
//	driver ──▶ worker ×6 ──▶ proxy ──▶ database        a worker records each action, and
//	  │        boot ×3  ──▶ proxy ──▶ (on disk)         before it, how long its lease lasts
//	  └──────── records, rows ──▶ checker
//
// Workers share partitions. They write numbered items under the fence of each partition's lease; a
// checkpoint gives the number of the next item. Boots fight for one node identity. At the end the
// checker compares the records with each other and with the rows:
//
//   - No two processes believed in one partition, or in one identity, at the same time.
//   - Epochs and terms grow.
//   - The workers wrote each item once, and no item is missing.
//   - The store did what it answered.
//
// All times are readings of CLOCK_BOOTTIME, which the processes of one machine share. For this
// reason the suite runs on Linux only.
//
//	go test ./chaos                  half a minute
//	PROOF_LONG=1 go test ./chaos     four minutes; the seed is PROOF_SEED, or else from the clock
//
// The seed fixes the disturbances and their order. It does not fix how far the processes have got
// when one comes. If PROOF_FIGURES_DIR is set, the suite writes the figures of the run to
// chaos.json in that directory.
package chaos
