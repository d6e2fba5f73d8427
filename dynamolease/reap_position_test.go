package dynamolease_test

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// position puts what the reaper is to take for where the last run got to.
func (w *world) position(value attributeValue) {
	w.Helper()
	w.putRow("R#reaper", "POSITION", attributes{"position": value})
}

func list(values ...attributeValue) attributeValue {
	return &types.AttributeValueMemberL{Value: values}
}

func null() attributeValue { return &types.AttributeValueMemberNULL{Value: true} }

// place is where in a segment a run is: after a row, or with an empty pk at the beginning.
func place(pk, sk string) attributeValue {
	if pk == "" {
		return &types.AttributeValueMemberM{Value: attributes{}}
	}
	return &types.AttributeValueMemberM{Value: key(pk, sk)}
}
