package dynamolease_test

import (
	"context"
	"maps"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// An operation is a request that a call makes, as the one that faults happen to.
type operation struct {
	name    string
	request string
	write   bool
	untimed bool // it has no ttl, by which others are bounded
	looks   bool // it finds out by reading what became of a lost answer
	undone  bool // what was acquired without being known is given up in the background
	each    bool
	splits  bool // a conflict has it go on with other requests
	then    int  // requests of the kind that follow once this one has succeeded
	prepare func(n *node)
	// call makes the call and checks what it returns. It leaves an error of the store to its caller.
	call func(ctx context.Context, n *node) error
	// check looks at the table after the call, and again after it was repeated.
	check func(n *node)
}

var operations = slices.Concat(storeOperations, sessionOperations, fencedOperations)

var storeOperations = []operation{
	{name: "Acquire", request: "UpdateItem", write: true, undone: true, prepare: prepareFree, call: callAcquire, check: checkAcquired},
	{name: "Acquire of an absent row", request: "UpdateItem", write: true, prepare: func(n *node) { n.owners() }, call: callAcquire, check: checkHeld},
	{name: "Acquire, reading", request: "GetItem", prepare: prepareFree, call: callAcquire, check: checkAcquired},
	{name: "Acquire, extending", request: "UpdateItem", write: true, prepare: prepareHeld, call: callAcquire, check: checkKept},
	{name: "Renew", request: "TransactWriteItems", write: true, splits: true, prepare: prepareHeld, call: callRenew, check: checkKept},
	{name: "Renew each item", request: "UpdateItem", write: true, each: true, prepare: prepareHeld, call: callRenew, check: checkKept},
	{name: "Renew, reading", request: "Query", prepare: prepareHeldElsewhere, call: callRenew, check: checkKept},
	{name: "Release", request: "UpdateItem", write: true, untimed: true, prepare: prepareHeld, call: callRelease, check: checkReleased},
	{name: "Release, reading", request: "GetItem", untimed: true, prepare: prepareHeldElsewhere, call: callRelease, check: checkReleased},
	{name: "Owners", request: "Query", untimed: true, prepare: prepareHeld, call: callOwners, check: checkKept},
	{name: "Heartbeat", request: "UpdateItem", write: true, prepare: func(n *node) { n.heartbeat("a", "old:1") }, call: callHeartbeat, check: checkMember},
	{name: "Heartbeat, reading", request: "GetItem", prepare: func(n *node) {}, call: callHeartbeat, check: checkMember},
	{name: "Members", request: "Query", untimed: true, prepare: func(n *node) { n.heartbeat("a", "new:1") }, call: callMembers, check: checkMember},
	{name: "Leave", request: "UpdateItem", write: true, untimed: true, prepare: func(n *node) { n.heartbeat("a", "old:1") }, call: callLeave, check: checkLeft},
	{name: "Leave, asking", request: "Query", untimed: true, prepare: func(n *node) { n.heartbeat("a", "old:1") }, call: callLeave, check: checkLeft},
	{name: "Leave, reading", request: "GetItem", untimed: true, prepare: func(n *node) { n.w.node().heartbeat("a", "old:1") }, call: callLeave, check: checkLeft},
}

// Partition 1 has epoch 7 before each call.
func prepareFree(n *node) {
	n.plantExpired(7)
	n.owners()
}

func prepareHeld(n *node) {
	n.plantExpired(6)
	n.acquire(1, "a")
}

// plantExpired makes a row of partition 1 as an owner that died long ago left it.
func (n *node) plantExpired(epoch int64) {
	n.w.Helper()
	row := n.w.leaseKey(1)
	maps.Copy(row, map[string]attributeValue{
		"owner": text("z"), "epoch": number(decimal(epoch)), "exp": number("1"), "rev": text("planted"), "ttl": number("4000000000"),
	})
	n.w.Put(row)
}

func prepareHeldElsewhere(n *node) { prepareHeld(n.w.node()) }

func callAcquire(ctx context.Context, n *node) error {
	lease, acquired, err := n.Acquire(ctx, n.w.group, 1, "a", ttl)
	if err == nil && !acquired {
		n.w.Errorf("not acquired: %+v", lease)
	}
	if err == nil && acquired {
		n.wantOwnLease(lease)
	}
	return err
}

func callRenew(ctx context.Context, n *node) error {
	leases, err := n.Renew(ctx, n.w.group, []int{1}, "a", ttl)
	if err == nil && len(leases) != 1 {
		n.w.Errorf("renewed %v, want one lease", leases)
	}
	if err == nil && len(leases) == 1 {
		n.wantOwnLease(leases[0])
	}
	return err
}

// wantOwnLease expects that a lease is as its row says, and that it can be counted on for most of the ttl.
func (n *node) wantOwnLease(lease dynamolease.Lease) {
	n.w.Helper()
	row := n.row(1)
	if textOf(row["owner"]) != "a" || numberOf(row["epoch"]) != decimal(lease.Epoch) || numberOf(row["exp"]) != decimal(lease.ExpiresAt.UnixMilli()) {
		n.w.Errorf("lease %+v, but the row is %s, epoch %s, exp %s", lease, textOf(row["owner"]), numberOf(row["epoch"]), numberOf(row["exp"]))
	}
	if left := lease.Remaining(); left > ttl || left < ttl*4/5 {
		n.w.Errorf("%v remaining of %v", left, ttl)
	}
}

func callRelease(ctx context.Context, n *node) error {
	_, err := n.Release(ctx, n.w.group, 1, "a")
	return err
}

func callOwners(ctx context.Context, n *node) error {
	leases, err := n.Owners(ctx, n.w.group)
	if err == nil && partitionsOf(leases) != "1" {
		n.w.Errorf("owners %+v", leases)
	}
	return err
}

func callHeartbeat(ctx context.Context, n *node) error {
	member, err := n.Heartbeat(ctx, dynamolease.Node{Service: n.w.service, Name: "a", Address: "new:1"}, ttl)
	if err == nil && (member.Node != "a" || member.Address != "new:1") {
		n.w.Errorf("member %+v", member)
	}
	return err
}

func callMembers(ctx context.Context, n *node) error {
	members, err := n.Members(ctx, n.w.service)
	if err == nil && (len(members) != 1 || members[0].Node != "a") {
		n.w.Errorf("members %+v", members)
	}
	return err
}

func callLeave(ctx context.Context, n *node) error { return n.Leave(ctx, n.w.service, "a") }

func checkAcquired(n *node) { checkLeaseRow(n, "a", "8") }

func checkKept(n *node) { checkLeaseRow(n, "a", "7") }

func checkReleased(n *node) { checkLeaseRow(n, "", "7") }

func checkHeld(n *node) {
	if row := n.row(1); textOf(row["owner"]) != "a" {
		n.w.Errorf("the owner is %q", textOf(row["owner"]))
	}
}

func checkLeaseRow(n *node, owner, epoch string) {
	n.w.Helper()
	if row := n.row(1); textOf(row["owner"]) != owner || numberOf(row["epoch"]) != epoch {
		n.w.Errorf("the row has owner %q and epoch %s, want %q and %s", textOf(row["owner"]), numberOf(row["epoch"]), owner, epoch)
	}
}

func checkMember(n *node) { n.w.node().wantMember("new:1") }

func checkLeft(n *node) {
	if members := n.w.node().members(); len(members) != 0 {
		n.w.Errorf("members %+v", members)
	}
}
