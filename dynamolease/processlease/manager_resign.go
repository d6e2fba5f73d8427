package processlease

import "context"

// resign marks the owner's own term as given up. If that term is over, resign does nothing.
func (s *Identity) resign(ctx context.Context, own head) error {
	c := s.change(own.Owner)
	c.decide = func(seen head, _ bool) (headWrite, error) {
		if !seen.heldBy(own) {
			return headWrite{}, nil
		}
		next, err := seen.resigned()
		return headWrite{head: next}, err
	}
	_, err := c.do(ctx)
	return s.explain(err, "resign")
}
