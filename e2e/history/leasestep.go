package history

// A leaseStep is a kind of operation on one partition.
type leaseStep string

const (
	acquired  leaseStep = "acquired"  // the caller acquired or extended the lease
	held      leaseStep = "held by"   // another owner holds it, or the caller does and it is revoked
	listed    leaseStep = "listed"    // Owners found it live
	unlisted  leaseStep = "unlisted"  // Owners did not find it live
	renewed   leaseStep = "renewed"   // the caller renewed it
	leftOut   leaseStep = "left out"  // the answer to a renewal lacks it
	lost      leaseStep = "lost"      // the caller found nothing to release
	released  leaseStep = "released"  // the caller released it
	worked    leaseStep = "worked"    // the store did fenced work
	refused   leaseStep = "refused"   // the store refused fenced work
	resumed   leaseStep = "resumed"   // its holder read it
	deleted   leaseStep = "deleted"   // the server deleted the row
	vanished  leaseStep = "vanished"  // somebody deleted the row by hand
	reaped    leaseStep = "reaped"    // the reaper freed the lease of a session that is over
	freed     leaseStep = "freed"     // an attempt whose answer no caller saw released it
	made      leaseStep = "made"      // a call wrote a free row, so that a late attempt fails
	marked    leaseStep = "marked"    // an operator marked it as revoked
	taken     leaseStep = "taken"     // an operator took it from a holder whose lease was over
	standing  leaseStep = "standing"  // an operator's answer says that it is revoked and not over
	revoked   leaseStep = "revoked"   // an operator's answer says that nobody has it any more
	ghostWork leaseStep = "work done" // an attempt whose answer no caller saw did fenced work
)
