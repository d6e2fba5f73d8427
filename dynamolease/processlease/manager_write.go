package processlease

import (
	"context"

	"github.com/dynamolease/dynamolease/internal/request"
)

// renew makes one attempt to renew exactly the owner's own term, on behalf of by. Earlier
// attempts on behalf of by count as its own, each from its own start.
func (s *Identity) renew(ctx context.Context, own head, by any) (Result, error) {
	c := s.change(own.Owner)
	c.by, c.budget = by, request.Once(2*s.authority.rows.Timeout(s.authority.ttl))
	c.decide = func(seen head, _ bool) (headWrite, error) {
		switch {
		case !seen.exists():
			return headWrite{}, missing("the head was deleted")
		case !seen.heldBy(own):
			return headWrite{}, nil
		}
		next, err := seen.renewed(s.authority.ttl)
		return headWrite{head: next}, err
	}
	out, err := c.do(ctx)
	return out, s.explain(err, "renew")
}

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
