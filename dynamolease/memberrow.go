package dynamolease

import (
	"slices"
	"strings"
	"time"
)

// A memberRow is the row of one node in a service: by heartbeats of the node's own, or by one session of it.
type memberRow struct {
	key     key
	node    string
	address string
	groups  []string
	session string // the node, '#', and the session's id; empty for a member by heartbeats
	opened  int64  // store time in milliseconds at which the session was opened
	left    int64  // store time in milliseconds at which the node was taken off the members, 0 while it is one
	exp     int64  // store time in milliseconds
	ttl     int64
	revoked []string // leases of the session that it is to give up: see revocation
	signals int64    // of the session: see Session.Signal
	rev     string
}

// memberRetention is how long the row of a member stays after its expiry. There is no epoch in it to be kept, and a node
// that restarts again and again leaves one each time, which every reading of the members pays for.
const memberRetention = time.Hour

func decodeMember(row item) (memberRow, error) {
	d := decode(row)
	member := memberRow{
		key:     d.key,
		node:    d.text(attrNode),
		address: d.text(attrAddress),
		groups:  d.texts(attrGroups),
		exp:     d.positive(attrExp),
		revoked: d.texts(attrRevoked),
		rev:     d.text(attrRev),
	}
	if d.has(attrTTL) {
		member.ttl = d.positive(attrTTL)
	}
	if d.has(attrSignals) {
		member.signals = d.positive(attrSignals)
	}
	if d.has(attrLeft) {
		member.left = d.positive(attrLeft)
	}
	name := member.node
	if d.has(attrSession) {
		member.session, member.opened = d.text(attrSession), d.positive(attrOpened)
		name = member.session
		if !strings.HasPrefix(member.session, member.node+"#") {
			d.fail(attrSession, "is not of the node")
		}
	}
	if nodePrefix+name != d.key.sk {
		d.fail(attrNode, "is not the node of the key")
	}
	return member, d.err
}

func (r memberRow) revision() string { return r.rev }

func (r memberRow) supersedes(memberRow) bool { return true } // a later heartbeat replaces whatever was there

func (r memberRow) revised(rev string) memberRow {
	r.rev = rev
	return r
}

func (r memberRow) attributes() []attribute {
	list := []attribute{
		{attrNode, stringValue(r.node)}, {attrAddress, stringValue(r.address)},
		{attrExp, numberValue(r.exp)}, {attrTTL, nil}, {attrRev, stringValue(r.rev)},
		{attrGroups, nil}, {attrLeft, nil}, {attrRevoked, nil}, {attrSignals, nil},
	}
	if r.ttl > 0 { // somebody may have taken it away
		list[3].value = numberValue(r.ttl)
	}
	if len(r.groups) > 0 {
		list[5].value = stringsValue(r.groups)
	}
	if r.left > 0 {
		list[6].value = numberValue(r.left)
	}
	if len(r.revoked) > 0 {
		list[7].value = stringsValue(r.revoked)
	}
	if r.signals > 0 {
		list[8].value = numberValue(r.signals)
	}
	if r.session != "" {
		list = append(list, attribute{attrSession, stringValue(r.session)}, attribute{attrOpened, numberValue(r.opened)})
	}
	return list
}

func (r memberRow) live(at moment) bool { return r.rev != "" && r.exp > at.earliest() }

func (r memberRow) member() Member {
	return Member{
		Service:   r.key.pk[len(memberPrefix):],
		Node:      r.node,
		Address:   r.address,
		Groups:    slices.Clone(r.groups),
		Session:   r.session,
		Signals:   r.signals,
		ExpiresAt: time.UnixMilli(r.exp).UTC(),
	}
}
