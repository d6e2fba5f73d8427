package history

// revoke is what an operator does about the lease of in.epoch, and is told of it. It says nothing about any other lease of
// the partition, and takes nothing from a holder that may still be there.
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
		return s, its && s.revoked && s.matches(out) && m.mayLive(s, in)
	default:
		nothing := !s.exists && out.owner == "" && out.epoch == 0
		return s, !its && (nothing || s.matches(out))
	}
}
