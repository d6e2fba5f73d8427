package history

// revoke is the step of an operator's writes and answers about the lease of in.epoch. An operator
// changes no other lease of the partition, and takes no lease that may still be live.
func (m machine) revoke(s leaseState, in leaseInput, out leaseOutput) (leaseState, bool) {
	its := s.exists && s.owner != "" && s.epoch == in.epoch
	switch in.what {
	case marked:
		s.revoked = true
		return s, its
	case taken:
		s, over := m.mayBeOver(s, in)
		next := s.free()
		next.epoch, next.highest = s.epoch+1, max(s.highest, s.epoch+1)
		return next, its && over && out.epoch == next.epoch && out.checkpoint == s.checkpoint
	case standing:
		return s, its && s.revoked && s.matches(out) && m.mayStand(s, in)
	default:
		nothing := !s.exists && out.owner == "" && out.epoch == 0
		return s, !its && (nothing || s.matches(out))
	}
}
