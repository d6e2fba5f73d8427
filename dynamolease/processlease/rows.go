package processlease

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Names of the attributes. `exp` is for people to read. `ttl` (epoch seconds) lets DynamoDB throw away a fence long
// after its term was superseded; a head never has it.
const (
	attrPK          = "pk"
	attrSK          = "sk"
	attrNode        = "node"
	attrOwner       = "owner"
	attrTerm        = "term"
	attrSeq         = "seq"
	attrExp         = "exp"
	attrLasts       = "lasts" // milliseconds
	attrRev         = "rev"
	attrResigned    = "resigned"
	attrPredecessor = "predecessor"
	attrSuccessor   = "successor"
	attrTTL         = "ttl"
)

type item = map[string]types.AttributeValue

// A key is the primary key of a row. All rows of a node share one partition key.
type key struct{ pk, sk string }

func headKey(node string) key { return key{"P#" + node, "HEAD"} }

// predecessorKey is where the fence lies that ended this owner's term.
func predecessorKey(node string, owner uuid.UUID) key { return key{"P#" + node, "F#" + owner.String()} }

// successorKey is where the fence lies that began this term.
func successorKey(node string, term uint64) key {
	return key{"P#" + node, fmt.Sprintf("T#%020d", term)}
}

func (k key) attributes() item { return item{attrPK: text(k.pk), attrSK: text(k.sk)} }

func malformed(k key, attribute, problem string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &dynamolease.RowError{PK: k.pk, SK: k.sk, Attribute: attribute, Problem: problem})
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n uint64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatUint(n, 10)}
}

// attributes of a head, without its key.
func (h head) attributes() item {
	row := leaseAttributes(h.Lease)
	row[attrNode] = text(h.Node)
	row[attrLasts] = number(uint64(h.lasts.Milliseconds()))
	row[attrRev] = text(h.rev)
	return row
}

// attributes of a fence, without its key. The node is there once, which keeps the longest name within a write unit.
func (f Fence) attributes() item {
	return item{
		attrNode:        text(f.Predecessor.Node),
		attrPredecessor: &types.AttributeValueMemberM{Value: leaseAttributes(f.Predecessor)},
		attrSuccessor:   &types.AttributeValueMemberM{Value: leaseAttributes(f.Successor)},
	}
}

func leaseAttributes(l Lease) item {
	row := item{
		attrOwner: text(l.Owner.String()),
		attrTerm:  number(l.Term),
		attrSeq:   number(l.Seq),
		attrExp:   number(uint64(max(1, l.ExpiresAt.UnixMilli()))),
	}
	if l.Resigned {
		row[attrResigned] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return row
}

// size is how many bytes DynamoDB counts for a row, or a little more.
func size(row item) int {
	total := 0
	for name, value := range row {
		total += len(name) + 1 + valueSize(value)
	}
	return total
}

func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberM:
		return 3 + size(v.Value)
	case *types.AttributeValueMemberL:
		total := 3
		for _, element := range v.Value {
			total += 1 + valueSize(element)
		}
		return total
	case *types.AttributeValueMemberSS:
		return setSize(v.Value)
	case *types.AttributeValueMemberNS:
		return setSize(v.Value)
	case *types.AttributeValueMemberBS:
		return setSize(v.Value)
	default: // a boolean, or null
		return 1
	}
}

func setSize[T string | []byte](set []T) int {
	total := 0
	for _, element := range set {
		total += len(element)
	}
	return total
}
