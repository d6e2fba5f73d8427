package coordinator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// bodyOf is the body of a request that is yet to be sent.
func bodyOf(req *http.Request) string {
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	return string(b)
}

// deleteRow deletes the row of a partition, as a person may.
func (w *world) deleteRow(partition int) {
	w.Helper()
	w.delete("L#"+w.group, fmt.Sprintf("P#%010d", partition))
}

// deleteSession deletes the row of a session.
func (w *world) deleteSession(id string) {
	w.Helper()
	w.delete("M#"+w.service, "N#"+id)
}

func (w *world) delete(pk, sk string) {
	w.Helper()
	_, err := w.direct().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: &w.table,
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk},
			"sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	if err != nil {
		w.Fatal(err)
	}
}

// revive notes that a node that was buried is there again.
func (n *node) revive() {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.dead = false
}
