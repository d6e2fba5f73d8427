package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Standing is where a node of a service stands.
type Standing struct {
	Service string  `json:"service"`
	Node    string  `json:"node"`
	Member  bool    `json:"member"`
	Drained bool    `json:"drained"`
	Others  int     `json:"others"` // members that could take its partitions over
	Holds   []Share `json:"holds"`  // of the service's groups
}

// A Share is how many partitions of a group a node holds.
type Share struct {
	Group      string `json:"group"`
	Partitions int    `json:"partitions"`
}

// Standing reads the members of a service and the owners of all groups that they list.
func (t *Table) Standing(ctx context.Context, service, node string) (Standing, error) {
	members, err := t.Store.Members(ctx, service)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Service: service, Node: node, Holds: []Share{}}
	for _, m := range members {
		if m.Node == node {
			s.Member, s.Drained = true, m.Drained
		} else if !m.Drained {
			s.Others++
		}
	}
	for _, group := range GroupsOf(members) {
		owners, err := t.Store.Owners(ctx, group)
		if err != nil {
			return Standing{}, err
		}
		held := 0
		for _, lease := range owners {
			if NodeOf(lease) == node {
				held++
			}
		}
		if held > 0 {
			s.Holds = append(s.Holds, Share{group, held})
		}
	}
	return s, nil
}

// GroupsOf are the groups that members take part in, sorted.
func GroupsOf(members []dynamolease.Member) []string {
	seen := make(map[string]bool)
	for _, m := range members {
		for _, group := range m.Groups {
			seen[group] = true
		}
	}
	return sorted(seen)
}

// holds is what the node has, for people.
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

// Text is a line or two.
func (s Standing) Text() string {
	var state []string
	if !s.Member {
		state = append(state, "not a member now")
	}
	if s.Drained {
		state = append(state, "drained")
	}
	if len(state) == 0 {
		state = append(state, "in service")
	}
	return fmt.Sprintf("%s of %s: %s; holds %s\n", Printable(s.Node), Printable(s.Service), strings.Join(state, ", "), s.holds())
}
