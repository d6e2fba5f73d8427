package rowstore

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Size returns how many bytes DynamoDB counts for a row, or a little more.
func Size(row Item) int {
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
		return 3 + Size(v.Value)
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
