package iamproxy

import "slices"

// Without returns a copy of the policy whose i-th statement does not allow an action.
func (p Policy) Without(i int, action string) Policy {
	return p.changed(i, func(s *Statement) { s.Actions = without(s.Actions, action) })
}

// With returns a copy of the policy whose i-th statement allows one action more.
func (p Policy) With(i int, action string) Policy {
	return p.changed(i, func(s *Statement) { s.Actions = with(s.Actions, action) })
}

// WithoutKey returns a copy of the policy whose i-th statement, which must have Keys, has one
// pattern less.
func (p Policy) WithoutKey(i int, pattern string) Policy {
	return p.changed(i, func(s *Statement) { s.Keys.Patterns = without(s.Keys.Patterns, pattern) })
}

// WithKey returns a copy of the policy whose i-th statement, which must have Keys, has one pattern
// more.
func (p Policy) WithKey(i int, pattern string) Policy {
	return p.changed(i, func(s *Statement) { s.Keys.Patterns = with(s.Keys.Patterns, pattern) })
}

func (p Policy) changed(i int, change func(*Statement)) Policy {
	c := slices.Clone(p)
	if keys := c[i].Keys; keys != nil {
		copied := *keys
		c[i].Keys = &copied
	}
	change(&c[i])
	return c
}

func with(list []string, element string) []string { return append(slices.Clone(list), element) }

func without(list []string, element string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return e == element })
}
