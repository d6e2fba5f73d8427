package coordinator

import (
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// listed reports whether a session is one of the members.
func listed(members []dynamolease.Member, session *dynamolease.Session) bool {
	return slices.ContainsFunc(members, func(m dynamolease.Member) bool { return m.Session == session.ID() })
}

// broken reports whether the row of a session is malformed, as a reading of the members found. No
// heartbeat brings such a session back, and nobody takes its leases: it must give them up in time.
func broken(err error, session *dynamolease.Session) bool {
	rows, _ := dynamolease.RowErrors(err)
	return slices.ContainsFunc(rows, func(r *dynamolease.RowError) bool { return strings.HasSuffix(r.SK, session.ID()) })
}

// noteMembers keeps for State and Health what was read of the members. An eventual reading proves
// nothing by absence.
func (c *Coordinator) noteMembers(members []dynamolease.Member, session *dynamolease.Session, consistency dynamolease.Consistency) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = members
	switch {
	case listed(members, session):
		c.absent = nil
	case consistency == dynamolease.Consistent && session.Err() == nil:
		c.absent = session
	}
}
