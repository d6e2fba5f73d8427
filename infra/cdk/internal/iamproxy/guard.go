package iamproxy

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Guard judges requests by a policy, and records which permissions they needed. It is safe for
// concurrent use.
type Guard struct {
	policy       Policy
	partitionKey string

	mu      sync.Mutex
	used    []usage // by statement
	refused []error
}

// usage records which actions and patterns of one statement the requests have needed.
type usage struct {
	actions  map[string]bool
	patterns map[int]bool
}

// NewGuard returns a guard for tables with this partition key.
func NewGuard(policy Policy, partitionKey string) *Guard {
	g := &Guard{policy: policy, partitionKey: partitionKey}
	for range policy {
		g.used = append(g.used, usage{make(map[string]bool), make(map[int]bool)})
	}
	return g
}

// judge decides on a request. It refuses the whole request if the policy does not allow everything
// that the request needs.
func (g *Guard) judge(operation string, body []byte) error {
	list, err := needs(operation, body, g.partitionKey)
	if err != nil {
		err = fmt.Errorf("judge %s: %w", operation, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range list {
		if !g.allows(n) {
			err = errors.Join(err, fmt.Errorf("not allowed: %v", n))
		}
	}
	if err != nil {
		g.refused = append(g.refused, err)
	}
	return err
}

// allows looks for statements that allow what is needed. It records the use if there is just one:
// if two statements allow it, neither of them is needed.
func (g *Guard) allows(n need) bool {
	var by []int
	var patterns []int
	for i, s := range g.policy {
		if used, ok := s.allows(n); ok {
			by, patterns = append(by, i), used
		}
	}
	if len(by) == 1 {
		g.used[by[0]].actions[n.action] = true
		for _, p := range patterns {
			g.used[by[0]].patterns[p] = true
		}
	}
	return len(by) > 0
}

// allows reports whether the statement allows what is needed, and returns those of its patterns
// that are needed for that.
func (s Statement) allows(n need) (patterns []int, ok bool) {
	switch {
	case !slices.Contains(s.Actions, n.action) || !slices.Contains(s.Resources, n.resource):
		return nil, false
	case s.Keys == nil:
		return nil, true
	default:
		return s.Keys.match(n.keys)
	}
}

// Refused returns all refusals so far, including requests that were not understood; nil if there
// are none.
func (g *Guard) Refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.refused...)
}

// Unused lists the allowed actions and patterns of leading keys that no request so far needed:
// without them, each of these requests would have been allowed as well.
func (g *Guard) Unused() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for i, s := range g.policy {
		for _, action := range s.Actions {
			if !g.used[i].actions[action] {
				list = append(list, fmt.Sprintf("statement %d: %s", i, action))
			}
		}
		if s.Keys == nil {
			continue
		}
		for p, pattern := range s.Keys.Patterns {
			if !g.used[i].patterns[p] {
				list = append(list, fmt.Sprintf("statement %d: the leading key %s", i, pattern))
			}
		}
	}
	return list
}
