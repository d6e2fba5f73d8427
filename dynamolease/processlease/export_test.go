package processlease

// Boots returns how many boots the authority remembers.
func (a *Authority) Boots() int {
	a.boots.mu.Lock()
	defer a.boots.mu.Unlock()
	return len(a.boots.of)
}

// Writes returns how many writes and pending writes the identity remembers.
func (s *Identity) Writes() (noted, pending int) {
	known, _ := s.heads.Recall(headKey(s.node))
	s.attempts.mu.Lock()
	defer s.attempts.mu.Unlock()
	return len(s.attempts.open), len(known.Pending)
}
