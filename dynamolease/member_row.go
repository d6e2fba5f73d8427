package dynamolease

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A memberRow is the row of one node in a service: by heartbeats of the node's own, or by one
// session of it.
type memberRow struct {
	key     rowstore.Key
	node    string
	address string
	groups  []string
	takes   string // of the groups: see takesText
	session string // the node, '#', and the session's id; empty for a member by heartbeats
	opened  int64  // store time in milliseconds at which the session was opened
	joined  int64  // store time in milliseconds at which its process first joined; 0 if by this session
	first   string // the session by which its process first joined; empty if it is this one
	lasts   int64  // the session's ttl in milliseconds; 0 where the row does not say
	left    int64  // store time in milliseconds at which the node was taken off the members, 0 while it is one
	exp     int64  // store time in milliseconds
	ttl     int64
	revoked []string // leases that the session must give up: see revocation
	signals int64    // of the session: see Session.Signal
	rev     string
}

// ceilMillis returns a duration in milliseconds, rounded up.
func ceilMillis(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// row returns the row of a node, without a session and without an expiry.
func (n Node) row(k rowstore.Key) memberRow {
	return memberRow{key: k, node: n.Name, address: n.Address, groups: sortedSet(n.Groups), takes: takesText(sortedSet(n.Groups), n.Takes)}
}

// memberRetention is how long the row of a member stays after its expiry. It holds no epoch that
// must be kept, and a node that restarts again and again leaves one each time, which every reading
// of the members pays for.
const memberRetention = time.Hour

// closedRetention is how long the row of a session stays that was closed in order: no request to open
// it is delivered any later.
const closedRetention = 10 * time.Minute

func decodeMember(row rowstore.Item) (memberRow, error) {
	d := decode(row)
	member := memberRow{
		key:     d.Key,
		node:    d.Text(attrNode),
		address: d.Text(attrAddress),
		groups:  d.Texts(attrGroups),
		exp:     d.Positive(attrExp),
		revoked: d.Texts(attrRevoked),
		rev:     d.Text(rowstore.AttrRev),
	}
	if d.Has(attrTTL) {
		member.ttl = d.Positive(attrTTL)
	}
	if d.Has(attrTakes) {
		member.takes = d.Text(attrTakes)
	}
	if d.Has(attrSignals) {
		member.signals = d.Positive(attrSignals)
	}
	if d.Has(attrLeft) {
		member.left = d.Positive(attrLeft)
	}
	name := member.node
	if d.Has(attrSession) {
		member.session, member.opened = d.Text(attrSession), d.Positive(attrOpened)
		if d.Has(attrLasts) {
			member.lasts = d.Positive(attrLasts)
		}
		if d.Has(attrFirst) {
			member.first, member.joined = d.Text(attrFirst), d.Positive(attrJoined)
			if !strings.HasPrefix(member.first, member.node+"#") {
				d.Fail(attrFirst, "is not of the node")
			}
		}
		name = member.session
		if !strings.HasPrefix(member.session, member.node+"#") {
			d.Fail(attrSession, "is not of the node")
		}
	}
	if nodePrefix+name != d.Key.SK {
		d.Fail(attrNode, "is not the node of the key")
	}
	return member, d.Err
}

// Rev returns the row's rev.
func (r memberRow) Rev() string { return r.rev }

// Supersedes is always true: a later heartbeat replaces whatever was there.
func (r memberRow) Supersedes(memberRow) bool { return true }

// Requires returns nothing: all that the row holds changes with its rev.
func (r memberRow) Requires() []rowstore.Attribute { return nil }

// WithRev returns the row with another rev.
func (r memberRow) WithRev(rev string) memberRow {
	r.rev = rev
	return r
}

// Attributes returns the whole row, without its key.
func (r memberRow) Attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: attrNode, Value: rowstore.Text(r.node)}, {Name: attrAddress, Value: rowstore.Text(r.address)},
		{Name: attrExp, Value: rowstore.Number(r.exp)}, {Name: attrTTL}, {Name: rowstore.AttrRev, Value: rowstore.Text(r.rev)},
		{Name: attrGroups}, {Name: attrLeft}, {Name: attrRevoked}, {Name: attrSignals}, {Name: attrTakes},
	}
	if r.ttl > 0 { // somebody may have taken it away
		list[3].Value = rowstore.Number(r.ttl)
	}
	if len(r.groups) > 0 {
		list[5].Value = rowstore.Texts(r.groups)
	}
	if r.left > 0 {
		list[6].Value = rowstore.Number(r.left)
	}
	if len(r.revoked) > 0 {
		list[7].Value = rowstore.Texts(r.revoked)
	}
	if r.signals > 0 {
		list[8].Value = rowstore.Number(r.signals)
	}
	if r.takes != "" {
		list[9].Value = rowstore.Text(r.takes)
	}
	if r.session != "" {
		list = append(list, rowstore.Attribute{Name: attrSession, Value: rowstore.Text(r.session)},
			rowstore.Attribute{Name: attrOpened, Value: rowstore.Number(r.opened)})
	}
	if r.first != "" {
		list = append(list, rowstore.Attribute{Name: attrFirst, Value: rowstore.Text(r.first)},
			rowstore.Attribute{Name: attrJoined, Value: rowstore.Number(r.joined)})
	}
	if r.lasts > 0 {
		list = append(list, rowstore.Attribute{Name: attrLasts, Value: rowstore.Number(r.lasts)})
	}
	return list
}

// extended returns the row as a heartbeat leaves it. The expiry is what follows from what is known
// of the time now: what an earlier error added to it does not stay.
func (r memberRow) extended(ttl time.Duration, at rowstore.Moment) memberRow {
	r.exp = at.Expiry(ttl)
	r.ttl = cleanup(r.exp, memberRetention)
	return r
}

// live reports whether the row is there and may not have expired.
func (r memberRow) live(at rowstore.Moment) bool { return r.rev != "" && r.exp > at.Earliest() }

// over reports whether nothing about the session changes any more.
func (r memberRow) over() bool { return r.rev != "" && r.exp == 1 && r.left > 0 }

// closed returns the row of a session that is over. Its ttl stays: it says when the session died.
func (r memberRow) closed(at rowstore.Moment) memberRow {
	r.exp = 1
	if r.left == 0 {
		r.left = at.Latest()
	}
	return r
}

// process returns the process of a row. A session that is the first of its process names no other.
func (r memberRow) process() process {
	if r.first == "" {
		return process{r.opened, r.session}
	}
	return process{r.joined, r.first}
}

// newer reports whether a row is to be preferred to another one of its node: it is of a newer
// process, or the later session of the process.
func (r memberRow) newer(other memberRow) bool {
	if mine, others := r.process(), other.process(); mine != others {
		return mine.newer(others)
	}
	return cmp.Or(cmp.Compare(r.opened, other.opened), cmp.Compare(r.session, other.session)) > 0
}

// service returns the service that the row is of.
func (r memberRow) service() string { return r.key.PK[len(memberPrefix):] }

func (r memberRow) member() Member {
	m := Member{
		Service:   r.service(),
		Node:      r.node,
		Address:   r.address,
		Groups:    slices.Clone(r.groups),
		Takes:     parseTakes(r.groups, r.takes),
		Session:   r.session,
		Signals:   r.signals,
		ExpiresAt: time.UnixMilli(r.exp).UTC(),
		process:   r.process(),
	}
	if r.session != "" {
		m.JoinedAt = time.UnixMilli(m.process.joined).UTC()
	}
	return m
}
