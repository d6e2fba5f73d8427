package dynamolease

import (
	"slices"
	"strings"
	"time"
)

// A memberRow is the row of one node in a service.
type memberRow struct {
	key     key
	node    string
	address string
	groups  []string
	exp     int64 // store time in milliseconds
	ttl     int64
	rev     string
}

func decodeMember(row item) (memberRow, error) {
	d := decode(row)
	member := memberRow{
		key:     d.key,
		node:    d.text(attrNode),
		address: d.text(attrAddress),
		groups:  d.texts(attrGroups),
		exp:     d.positive(attrExp),
		rev:     d.text(attrRev),
	}
	if d.has(attrTTL) {
		member.ttl = d.positive(attrTTL)
	}
	if member.node != strings.TrimPrefix(d.key.sk, nodePrefix) && !d.has(attrSession) {
		d.fail(attrNode, "is not the node of the key")
	}
	return member, d.err
}

func (r memberRow) revision() string { return r.rev }

func (r memberRow) revised(rev string) memberRow {
	r.rev = rev
	return r
}

func (r memberRow) attributes() []attribute {
	list := []attribute{
		{attrNode, stringValue(r.node)}, {attrAddress, stringValue(r.address)},
		{attrExp, numberValue(r.exp)}, {attrTTL, numberValue(r.ttl)}, {attrRev, stringValue(r.rev)},
		{attrGroups, nil},
	}
	if len(r.groups) > 0 {
		list[5].value = stringsValue(r.groups)
	}
	return list
}

func (r memberRow) live(at moment) bool { return r.exp > at.earliest() }

func (r memberRow) member() Member {
	return Member{
		Service:   r.key.pk[len(memberPrefix):],
		Node:      r.node,
		Address:   r.address,
		Groups:    slices.Clone(r.groups),
		ExpiresAt: time.UnixMilli(r.exp).UTC(),
	}
}
