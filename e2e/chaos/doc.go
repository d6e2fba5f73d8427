// Package chaos runs coordinators and process leases in real processes, and hurts these: it kills them, stops them for
// longer than their leases last and has them go on, starts them again under their names, cuts them off from the database,
// and kills the database itself, which keeps its tables on disk.
//
//	driver ──▶ worker ×6 ──▶ proxy ──▶ database        a worker appends to its record what it does, and
//	  │        boot ×3  ──▶ proxy ──▶ (on disk)         until when it believes in its lease, before it acts
//	  └──────── records, rows ──▶ checker
//
// Workers share partitions, and write numbered items under the fence of each partition's lease, where a checkpoint says
// which is next. Boots fight for one node identity. When all is over the checker compares the records with each other and
// with the rows: no two believed in one partition, or one identity, at the same time; epochs and terms grow; each item was
// written once, none is missing, and what the store answered is what it did.
//
// All times are those of CLOCK_BOOTTIME, which the processes of one machine share. So the suite runs on Linux only.
//
//	go test ./chaos                  half a minute
//	PROOF_LONG=1 go test ./chaos     four minutes; PROOF_SEED chooses the seed, which the clock does otherwise
//
// The seed fixes what is done in which order, not what the processes are doing at that moment. With PROOF_FIGURES_DIR set
// the figures of the run are written to chaos.json in that directory.
package chaos
