package dynamolease_test

import "github.com/dynamolease/dynamolease/dynamolease"

func lateHeartbeat(w *world) {
	a := w.node()
	a.heartbeat("a", "old:1", "g")
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, err := a.Heartbeat(w.giveUp(), dynamolease.Node{Service: w.service, Name: "a", Address: "late:1"}, ttl)
	w.wantUnknown("heartbeat", err)
	a.heartbeat("a", "new:1")
	late.deliver()
	a.wantMember("new:1")
}

func lateFirstHeartbeat(w *world) {
	a := w.node()
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, err := a.Heartbeat(w.giveUp(), dynamolease.Node{Service: w.service, Name: "a", Address: "late:1"}, ttl)
	w.wantUnknown("heartbeat", err)
	a.heartbeat("a", "new:1")
	late.deliver()
	a.wantMember("new:1")
}

func (n *node) wantMember(address string) {
	n.w.Helper()
	if members := n.members(); len(members) != 1 || members[0].Address != address {
		n.w.Errorf("members %+v, want one at %s", members, address)
	}
}

// The first request of a heartbeat is late, the second is answered, and the node leaves after that.
func lateHeartbeatAfterLeave(w *world, first bool, leaves int) {
	a := w.node()
	if !first {
		a.heartbeat("a", "old:1")
	}
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	a.heartbeat("a", "new:1")
	for range leaves {
		a.leave("a")
	}
	late.deliver()
	if members := a.members(); len(members) != 0 {
		w.Errorf("the late heartbeat came back after leave: %+v", members)
	}
}

func lateHeartbeatGivenUp(w *world, leaves int) {
	a := w.node()
	a.members()
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, err := a.Heartbeat(w.giveUp(), dynamolease.Node{Service: w.service, Name: "a", Address: "late:1"}, ttl)
	w.wantUnknown("heartbeat", err)
	for range leaves {
		a.leave("a")
	}
	late.deliver()
	if members := a.members(); len(members) != 0 {
		w.Errorf("the late heartbeat came back after leave: %+v", members)
	}
}

func lateLeave(w *world) {
	a := w.node()
	a.heartbeat("a", "old:1")
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	w.wantUnknown("leave", a.Leave(w.giveUp(), w.service, "a"))
	a.heartbeat("a", "new:1")
	late.deliver()
	a.wantMember("new:1")
}
