package dynamolease

// HoldWorks keeps the garbage collector's goroutine from changing what a store remembers of fenced work.
func (s *Store) HoldWorks() (release func()) {
	s.works.mu.Lock()
	return s.works.mu.Unlock
}
