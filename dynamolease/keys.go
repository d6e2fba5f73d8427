package dynamolease

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Names of the table's attributes, besides those of the row store. `exp` (the store's time in
// milliseconds) decides liveness. `ttl` (epoch seconds) only lets DynamoDB throw a row away long
// after, and nothing is ever decided by it.
const (
	attrExp        = "exp"
	attrTTL        = "ttl"
	attrOwner      = "owner"
	attrEpoch      = "epoch"
	attrNode       = "node"
	attrAddress    = "address"
	attrGroups     = "groups"
	attrTakes      = "takes"
	attrService    = "service"
	attrSession    = "session"
	attrOpened     = "opened"
	attrJoined     = "joined"
	attrFirst      = "first"
	attrLasts      = "lasts"
	attrLeft       = "left"
	attrCheckpoint = "checkpoint"
	attrWork       = "work"
	attrRevoked    = "revoked"
	attrSignals    = "signals"
	attrDrained    = "drained"
	attrClaimed    = "claimed"
	attrFormer     = "former"
	leasePrefix    = "L#"
	memberPrefix   = "M#"
	nodePrefix     = "N#"
	drainPrefix    = "D#"
	claimSort      = "SERVICE"
	partitionKey   = "P#%010d" // padded, so that a Query returns partitions in order
	partitionLen   = len("P#") + 10
	maxPartition   = 9_999_999_999
	maxNameLength  = 255
	maxGroupsTotal = 100
)

func leaseKey(group string, partition int) rowstore.Key {
	return rowstore.Key{PK: leasePrefix + group, SK: fmt.Sprintf(partitionKey, partition)}
}

// leaseRows returns the rows of a group's leases.
func leaseRows(group string) rowstore.Range {
	return rowstore.Range{PK: leasePrefix + group, First: "P", Last: "P\U0010FFFF"}
}

// claimKey returns the key of the row that says which service works a group.
func claimKey(group string) rowstore.Key {
	return rowstore.Key{PK: leasePrefix + group, SK: claimSort}
}

func memberKey(service, node string) rowstore.Key {
	return rowstore.Key{PK: memberPrefix + service, SK: nodePrefix + node}
}

// sessionKey returns the key of a session's row. session is the node, '#', and the session's id.
func sessionKey(service, session string) rowstore.Key {
	return rowstore.Key{PK: memberPrefix + service, SK: nodePrefix + session}
}

// partitionOf returns the number in a lease's sort key. It is false for any other key.
func partitionOf(k rowstore.Key) (partition int, ok bool) {
	digits, ok := strings.CutPrefix(k.SK, "P#")
	n, err := strconv.ParseUint(digits, 10, 63) // takes digits only
	return int(n), ok && err == nil && len(k.SK) == partitionLen
}
