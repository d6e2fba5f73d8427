package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Standing is the state of a node of a service.
type Standing struct {
	Service string  `json:"service"`
	Node    string  `json:"node"`
	Member  bool    `json:"member"`
	Drained bool    `json:"drained"`
	Others  int     `json:"others"` // members that could take its partitions over
	Holds   []Share `json:"holds"`  // by groups of the service

	Malformed []string `json:"malformed,omitempty"` // rows that could not be read, the first ten of the members and of each group

	members []string // the nodes of the service
	order   order    // of this command
	before  bool     // drained before the order
}

// An order is the command's own order to the node.
type order int

const (
	noOrder order = iota
	drained
	undrained
)

// A Share counts the partitions of a group that a node holds.
type Share struct {
	Group      string `json:"group"`
	Partitions int    `json:"partitions"`
}

// Standing reads the members of a service and the owners of all groups that they list.
func (t *Table) Standing(ctx context.Context, service, node string) (Standing, error) {
	members, err := t.Store.Members(ctx, service)
	malformed, err := Malformed(err)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Service: service, Node: node, Holds: []Share{}, Malformed: malformed}
	for _, m := range members {
		s.members = append(s.members, m.Node)
		if m.Node == node {
			s.Member, s.Drained = true, m.Drained
		} else if !m.Drained {
			s.Others++
		}
	}
	if !s.Member {
		if err := t.standingOfName(ctx, &s); err != nil {
			return Standing{}, err
		}
	}
	for _, group := range GroupsOf(members) {
		owners, err := t.Store.Owners(ctx, group)
		malformed, err := Malformed(err)
		if err != nil {
			return Standing{}, err
		}
		s.Malformed = Merge(s.Malformed, malformed)
		held := 0
		for _, lease := range owners {
			if lease.Node() == node {
				held++
			}
		}
		if held > 0 {
			s.Holds = append(s.Holds, Share{group, held})
		}
	}
	return s, nil
}

// standingOfName finds out whether a name without a member is drained.
func (t *Table) standingOfName(ctx context.Context, s *Standing) error {
	names, err := t.Store.Drained(ctx, s.Service)
	malformed, err := Malformed(err)
	s.Drained, s.Malformed = slices.Contains(names, s.Node), Merge(s.Malformed, malformed)
	return err
}

// GroupsOf returns the groups that the members take part in, sorted.
func GroupsOf(members []dynamolease.Member) []string {
	seen := make(map[string]bool)
	for _, m := range members {
		for _, group := range m.Groups {
			seen[group] = true
		}
	}
	return sorted(seen)
}

// holds describes what the node holds.
func (s Standing) holds() string {
	if len(s.Holds) == 0 {
		return "nothing"
	}
	parts := make([]string, len(s.Holds))
	for i, share := range s.Holds {
		parts[i] = fmt.Sprintf("%s of %s", count(share.Partitions, "partition"), Printable(share.Group))
	}
	return strings.Join(parts, ", ")
}

// stranger says that the node is not a member, in case its name is mistyped.
func (s Standing) stranger() string {
	switch {
	case s.Member:
		return ""
	case len(s.members) == 0:
		return fmt.Sprintf("%s is no member of %s now, and nobody else is: are both names right?\n", Printable(s.Node), Printable(s.Service))
	default:
		return fmt.Sprintf("%s is no member of %s now: is the name right? Members are %s.\n", Printable(s.Node), Printable(s.Service), nearest(s.Node, s.members))
	}
}

func (s Standing) undo() string {
	return fmt.Sprintf("dynamolease undrain %s %s", word(s.Service), word(s.Node))
}

// line returns the node's state in one line.
func (s Standing) line() string {
	var state []string
	if !s.Member {
		state = append(state, "not a member now")
	}
	switch {
	case s.Drained:
		state = append(state, "drained")
	case s.Member:
		state = append(state, "in service")
	case s.order == undrained && s.before:
		state = append(state, "not drained any more")
	default:
		state = append(state, "not drained")
	}
	return fmt.Sprintf("%s of %s: %s; holds %s\n", Printable(s.Node), Printable(s.Service), strings.Join(state, ", "), s.holds())
}

// Text returns a line, and another one with advice.
func (s Standing) Text() string {
	text := leftOut(s.Malformed) + s.line()
	switch {
	case s.Drained && !s.Member:
		text += fmt.Sprintf("a node of that name takes nothing when it joins; members lists the name until then, too; to undo it: %s\n", s.undo())
	case s.order == drained && len(s.Holds) > 0:
		text += fmt.Sprintf("it hands over from its next round on; to wait for that: dynamolease drain %s %s --wait 5m\n", word(s.Service), word(s.Node))
	}
	return text
}
