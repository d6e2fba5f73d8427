package coordinator

import (
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// participants are the nodes that take part in a group, as the members say.
type participants struct {
	nodes     []string        // that list the group and are not drained, in order
	sessions  []string        // of these
	signals   []int64         // how often each node that lists the group has signalled
	signalled map[string]bool // the nodes and sessions that have signalled
}

func participantsOf(members []dynamolease.Member, groupName string) participants {
	p := participants{signalled: make(map[string]bool)}
	for _, m := range members {
		if !slices.Contains(m.Groups, groupName) {
			continue
		}
		p.signals = append(p.signals, m.Signals)
		if m.Signals > 0 {
			p.signalled[m.Node], p.signalled[m.Session] = true, true
		}
		if !m.Drained {
			p.nodes, p.sessions = append(p.nodes, m.Node), append(p.sessions, m.Session)
		}
	}
	return p
}

// signalFor reports whether every holder of one of these leases would signal if it gave its lease
// up. A node that has left the members does not, nor does a former session of a node, nor a
// program without a coordinator.
func (p participants) signalFor(leases []dynamolease.Lease) bool {
	return !slices.ContainsFunc(leases, func(lease dynamolease.Lease) bool {
		if lease.Session != "" {
			return !p.signalled[lease.Session]
		}
		return !p.signalled[lease.Node()]
	})
}
