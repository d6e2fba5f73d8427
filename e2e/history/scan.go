package history

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// compare expects that the notes about the rows agree with the table.
func (w *world) compare(ctx context.Context) {
	rows, err := w.scan(ctx)
	if err != nil {
		w.problem("read the table: %v", err)
		return
	}
	w.problems = append(w.problems, w.db.differences(rows)...)
}

// scan reads the whole table.
func (w *world) scan(ctx context.Context) ([]row, error) {
	var list []row
	input := &dynamodb.ScanInput{TableName: &w.db.table, ConsistentRead: aws.Bool(true)}
	pages := dynamodb.NewScanPaginator(w.quietPath().client(), input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			list = append(list, rowOf(item))
		}
	}
	return list, nil
}

func rowOf(item map[string]types.AttributeValue) row {
	r := make(row, len(item))
	for name, v := range item {
		r[name] = valueOf(v)
	}
	return r
}

func valueOf(v types.AttributeValue) value {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return value{S: &v.Value}
	case *types.AttributeValueMemberN:
		return value{N: &v.Value}
	case *types.AttributeValueMemberB:
		return value{B: v.Value}
	case *types.AttributeValueMemberBOOL:
		return value{BOOL: &v.Value}
	case *types.AttributeValueMemberL:
		list := value{L: []value{}}
		for _, element := range v.Value {
			list.L = append(list.L, valueOf(element))
		}
		return list
	case *types.AttributeValueMemberM:
		m := value{M: make(map[string]value)}
		for name, element := range v.Value {
			m.M[name] = valueOf(element)
		}
		return m
	}
	return value{}
}
