package history

// A leaseStep is a kind of operation on one partition.
type leaseStep string

const (
	acquired  leaseStep = "acquired"  // or extended
	held      leaseStep = "held by"   // another holds it, or the caller, from whom it is revoked
	listed    leaseStep = "listed"    // found live by Owners
	unlisted  leaseStep = "unlisted"  // not found live by Owners
	renewed   leaseStep = "renewed"   //
	leftOut   leaseStep = "left out"  // of what was renewed
	lost      leaseStep = "lost"      // nothing was there to be released
	released  leaseStep = "released"  //
	worked    leaseStep = "worked"    // fenced work was done
	refused   leaseStep = "refused"   // fenced work was refused
	resumed   leaseStep = "resumed"   // the lease was read by its holder
	deleted   leaseStep = "deleted"   // the row
	freed     leaseStep = "freed"     // by an attempt that no caller heard of
	made      leaseStep = "made"      // a free row, to keep an attempt from being applied late
	marked    leaseStep = "marked"    // as revoked, by an operator
	taken     leaseStep = "taken"     // from a holder that is over, by an operator
	standing  leaseStep = "standing"  // an operator was told that the lease is revoked and not over
	revoked   leaseStep = "revoked"   // an operator was told that nobody has the lease any more
	ghostWork leaseStep = "work done" // by an attempt that no caller heard of
)
