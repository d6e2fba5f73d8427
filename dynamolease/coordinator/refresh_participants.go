package coordinator

import (
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// participants are the nodes that take part in a group, as a look at the members shows them.
type participants struct {
	nodes     []string         // that list the group and are not drained, in order
	sessions  []string         // of these, and then those that are leaving
	signals   map[string]int64 // how often each session that lists the group has signalled
	signalled map[string]bool  // the nodes and sessions that have signalled
}

func participantsOf(groupName string, members, leaving []dynamolease.Member) participants {
	p := participants{signals: make(map[string]int64), signalled: make(map[string]bool)}
	for _, m := range members {
		if slices.Contains(m.Groups, groupName) {
			p.add(m)
			if !m.Drained {
				p.nodes, p.sessions = append(p.nodes, m.Node), append(p.sessions, m.Session)
			}
		}
	}
	for _, m := range leaving {
		if slices.Contains(m.Groups, groupName) {
			p.add(m)
			p.sessions = append(p.sessions, "leaving "+m.Session)
		}
	}
	return p
}

func (p participants) add(m dynamolease.Member) {
	p.signals[m.Session] = m.Signals
	if m.Signals > 0 {
		p.signalled[m.Node], p.signalled[m.Session] = true, true
	}
}

// misses reports whether a session is not there any more, neither as a member nor as one that is leaving.
func (p participants) misses(session string) bool {
	_, there := p.signals[session]
	return !there
}

// freedSince returns how often the sessions have signalled since an earlier look that they gave
// something up. The first signal of a session only says that it signals.
func (p participants) freedSince(before participants) (freed int64) {
	for session, n := range p.signals {
		if old, ok := before.signals[session]; ok && n > max(1, old) {
			freed += n - max(1, old)
		}
	}
	return freed
}

// mayExpire reports whether one of these leases comes free when it expires, and nobody signals that.
func (p participants) mayExpire(leases []dynamolease.Lease) bool {
	return slices.ContainsFunc(leases, func(lease dynamolease.Lease) bool { return lease.Session == "" && !p.signalled[lease.Node()] })
}

// signalFor reports whether every holder of one of these leases would signal if it gave its lease
// up, or ends with a session that is seen to end. A node that has left the members and has no session
// any more does not, nor does a program without a coordinator.
func (p participants) signalFor(leases []dynamolease.Lease) bool {
	return !slices.ContainsFunc(leases, func(lease dynamolease.Lease) bool {
		if lease.Session != "" {
			return !p.signalled[lease.Session]
		}
		return !p.signalled[lease.Node()]
	})
}
