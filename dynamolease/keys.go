package dynamolease

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names of the table's attributes. `exp` (the store's time in milliseconds) decides liveness; `ttl` (epoch seconds)
// only lets DynamoDB throw a row away long after, and nothing is ever decided by it.
const (
	attrPK         = "pk"
	attrSK         = "sk"
	attrRev        = "rev"
	attrExp        = "exp"
	attrTTL        = "ttl"
	attrOwner      = "owner"
	attrEpoch      = "epoch"
	attrNode       = "node"
	attrAddress    = "address"
	attrGroups     = "groups"
	attrService    = "service"
	attrSession    = "session"
	attrOpened     = "opened"
	attrLeft       = "left"
	attrCheckpoint = "checkpoint"
	attrWork       = "work"
	attrRevoked    = "revoked"
	attrSignals    = "signals"
	attrDrained    = "drained"
	leasePrefix    = "L#"
	memberPrefix   = "M#"
	nodePrefix     = "N#"
	drainPrefix    = "D#"
	partitionKey   = "P#%010d" // padded, so that a Query returns partitions in order
	partitionLen   = len("P#") + 10
	maxPartition   = 9_999_999_999
	maxNameLength  = 255
	maxGroupsTotal = 100
)

// A key is the primary key of a row.
type key struct{ pk, sk string }

func leaseKey(group string, partition int) key {
	return key{leasePrefix + group, fmt.Sprintf(partitionKey, partition)}
}

func memberKey(service, node string) key {
	return key{memberPrefix + service, nodePrefix + node}
}

// sessionKey is the key of a session's row; session is the node, '#', and the session's id.
func sessionKey(service, session string) key {
	return key{memberPrefix + service, nodePrefix + session}
}

func (k key) attributes() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{attrPK: stringValue(k.pk), attrSK: stringValue(k.sk)}
}

func (k key) malformed(attribute, problem string) error {
	return &RowError{PK: k.pk, SK: k.sk, Attribute: attribute, Problem: problem}
}
