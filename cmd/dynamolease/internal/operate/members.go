package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Member is a live member of a service.
type Member struct {
	Node    string   `json:"node"`
	Session string   `json:"session,omitempty"`
	Address string   `json:"address,omitempty"`
	Groups  []string `json:"groups"`
	Left    *Left    `json:"left,omitempty"`
	Drained bool     `json:"drained"`
	Absent  bool     `json:"absent,omitempty"` // not a member: only a drained name
}

// Members are the live members of a service.
type Members []Member

// Members reads the live members of a service, and the drained names without a member. With an
// empty list it returns [ErrNotFound]; with a list that lacks malformed rows, a
// [dynamolease.RowError]. Other errors are those of [dynamolease.Store.Members].
func (t *Table) Members(ctx context.Context, service string) (Members, error) {
	found, err := t.Store.Members(ctx, service)
	if _, failure := Malformed(err); failure != nil {
		return nil, failure
	}
	list := make(Members, 0, len(found))
	for _, m := range found {
		list = append(list, Member{
			Node: m.Node, Session: m.Session, Address: m.Address, Groups: append([]string{}, m.Groups...),
			Left: LeftUntil(t.Store, m.ExpiresAt), Drained: m.Drained,
		})
	}
	drained, drainErr := t.Store.Drained(ctx, service)
	if _, failure := Malformed(drainErr); failure != nil {
		return nil, failure
	}
	for _, name := range drained {
		if !slices.ContainsFunc(list, func(m Member) bool { return m.Node == name }) {
			list = append(list, Member{Node: name, Groups: []string{}, Drained: true, Absent: true})
		}
	}
	slices.SortStableFunc(list, func(a, b Member) int { return cmp.Compare(a.Node, b.Node) })
	if len(list) == 0 && err == nil {
		return list, fmt.Errorf("%w: service %q has no members", ErrNotFound, service)
	}
	return list, err
}

// Text returns a table with a line for each member.
func (m Members) Text() string {
	rows := [][]string{{"NODE", "SESSION", "ADDRESS", "GROUPS", "LEFT", "DRAINED"}}
	for _, member := range m {
		groups := make([]string, len(member.Groups))
		for i, group := range member.Groups {
			groups[i] = Printable(group)
		}
		rows = append(rows, []string{
			Printable(member.Node), orDash(Printable(member.Session)), orDash(Printable(member.Address)), orDash(strings.Join(groups, ",")),
			member.left(), yes(member.Drained),
		})
	}
	return columns(rows)
}

func (m Member) left() string {
	if m.Absent {
		return "no member"
	}
	return m.Left.String()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
