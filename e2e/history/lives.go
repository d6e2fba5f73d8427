package history

import (
	"fmt"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// lives are the sessions whose processes know them. A session is closed, or its row deleted, only
// by itself or after its process has given it up. A session that was over once stays so.
type lives struct {
	mu   sync.Mutex
	open map[rowKey]*dynamolease.Session
	over map[rowKey]bool
}

func sessionRowKey(id string) rowKey { return rowKey{"M#" + service, "N#" + id} }

// born notes a session that its process has opened.
func (l *lives) born(session *dynamolease.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(map[rowKey]*dynamolease.Session)
	}
	l.open[sessionRowKey(session.ID())] = session
}

// back returns the sessions that were over at an earlier call, and are not now.
func (l *lives) back() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = make(map[rowKey]bool)
	}
	for k, session := range l.open {
		switch left := session.Remaining(); {
		case left == 0:
			l.over[k] = true
		case l.over[k]:
			list = append(list, fmt.Sprintf("the session %s was over, and has %v left", session.ID(), left))
			delete(l.over, k)
		}
	}
	return list
}

// closes reports whether a change ends a session in which its process still believes.
func (l *lives) closes(ch *change) bool {
	if ch.before == nil || ch.after != nil && ch.after.number("exp") != 1 || ch.call != nil && ch.call.what == deleteByHand {
		return false
	}
	l.mu.Lock()
	session := l.open[ch.key]
	l.mu.Unlock()
	return session != nil && session.Remaining() > 0
}
