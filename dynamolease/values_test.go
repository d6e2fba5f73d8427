package dynamolease_test

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

type attributeValue = types.AttributeValue

// textOf is the text of a string attribute, "" for anything else.
func textOf(value attributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// numberOf is the text of a number attribute, "" for anything else.
func numberOf(value attributeValue) string {
	if n, ok := value.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}
