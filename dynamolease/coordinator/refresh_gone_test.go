package coordinator

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Others need a hint that a session is over if it died. Of one that has left, the node itself tells them.
func TestGoneCO30(t *testing.T) {
	groups := []string{"orders"}
	member := func(session string, drained bool) dynamolease.Member {
		return dynamolease.Member{Node: "a", Session: session, Groups: groups, Drained: drained}
	}
	view := func(members, leaving []dynamolease.Member) participants {
		return participantsOf("orders", members, leaving)
	}
	type list = []dynamolease.Member
	for name, test := range map[string]struct {
		before, now participants
		gone        bool
	}{
		"CO30/lives":             {view(list{member("a#1", false)}, nil), view(list{member("a#1", false)}, nil), false},
		"CO30/died":              {view(list{member("a#1", false)}, nil), view(nil, nil), true},
		"CO30/has left":          {view(list{member("a#1", false)}, nil), view(nil, list{member("a#1", false)}), false},
		"CO30/left, and closed":  {view(nil, list{member("a#1", false)}), view(nil, nil), false},
		"CO30/drained":           {view(list{member("a#1", false)}, nil), view(list{member("a#1", true)}, nil), false},
		"CO30/joined":            {view(nil, nil), view(list{member("a#1", false)}, nil), false},
		"CO30/died, and is back": {view(list{member("a#1", false)}, nil), view(list{member("a#2", false)}, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := refreshPolicy{seen: test.before, interval: time.Second, partitions: 1}
			if r.observe(test.now, 0, time.Now()); r.gone != test.gone {
				t.Errorf("gone: %v, want %v", r.gone, test.gone)
			}
		})
	}
}
