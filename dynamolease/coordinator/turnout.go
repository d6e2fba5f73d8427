package coordinator

import (
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A turnout is who takes part in a group, as the members say.
type turnout struct {
	nodes    []string        // that list the group and are not drained, in order
	sessions []string        // of these
	signals  []int64         // how often each who lists the group has signalled
	heard    map[string]bool // the nodes and sessions that have
}

func takingPart(members []dynamolease.Member, group string) turnout {
	t := turnout{heard: make(map[string]bool)}
	for _, m := range members {
		if !slices.Contains(m.Groups, group) {
			continue
		}
		t.signals = append(t.signals, m.Signals)
		if m.Signals > 0 {
			t.heard[m.Node], t.heard[m.Session] = true, true
		}
		if !m.Drained {
			t.nodes, t.sessions = append(t.nodes, m.Node), append(t.sessions, m.Session)
		}
	}
	return t
}

// hears tells whether all who hold one of these leases would be heard if they gave it up. One who has left the members is not,
// nor is a former session of a node, nor a program without a coordinator.
func (t turnout) hears(leases []dynamolease.Lease) bool {
	return !slices.ContainsFunc(leases, func(lease dynamolease.Lease) bool {
		node, _, _ := strings.Cut(lease.Owner, "#")
		return lease.Session == "" && !t.heard[node] || lease.Session != "" && !t.heard[lease.Session]
	})
}
