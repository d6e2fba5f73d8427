package dynamolease

import (
	"context"

	"github.com/google/uuid"
)

// Reopen opens another session of the process, after this one was lost. It is a member as by
// [Store.OpenSession], with the same node and ttl, and without any lease. It does not count as newer
// than it is: the process has joined when it opened its first session, [Member.JoinedAt]. A process
// that was cut off and has a successor under the node's name thus finds it among the members, see
// [Session.ReplacedBy], and does not drive it out.
//
// It is one write, and changes nothing of the session that it is called on. Errors are those of
// OpenSession.
func (s *Session) Reopen(ctx context.Context) (*Session, error) {
	row, opened := s.row, s.row.opened // all that it says of the node stays
	row.session = row.node + "#" + uuid.NewString()
	row.key = sessionKey(row.service(), row.session)
	row.joined, row.first = s.row.process().joined, s.row.process().first
	session, err := s.store.openSession(ctx, row, s.ttl, opened, s.store.rows.First(s.ttl, s.ttl))
	return session, s.store.explain(err, "reopen session of %s in %s", row.node, row.service())
}

// ReplacedBy reports whether a member is a newer process of the session's own node: one that first
// joined later. Where two joined in one millisecond, the name of their first sessions decides.
func (s *Session) ReplacedBy(m Member) bool {
	return m.Service == s.row.service() && m.Node == s.node && m.process.newer(s.row.process())
}
