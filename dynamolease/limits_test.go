package dynamolease_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// What one partition key serves in a second, and what a unit covers, by DynamoDB's documentation.
const (
	keyReads, keyWrites = 3000, 1000
	readUnit, writeUnit = 4096, 1024
	page                = 1 << 20
)

// rowSize returns the size of a row by DynamoDB's documented rules: the bytes of names and values; a
// number has at most one byte for two of its digits, and one more.
func rowSize(row map[string]attributeValue) (bytes int) {
	for name, value := range row {
		bytes += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			bytes += len(v.Value)
		case *types.AttributeValueMemberN:
			bytes += (len(v.Value)+1)/2 + 1
		case *types.AttributeValueMemberB:
			bytes += len(v.Value)
		case *types.AttributeValueMemberSS:
			for _, member := range v.Value {
				bytes += len(member)
			}
		}
	}
	return bytes
}

// units is how many units the given bytes take.
func units(bytes, unit int) int { return (bytes + unit - 1) / unit }

// rowSizes returns the sizes of the rows of a session and of a lease in it, with names like those of
// pods: 4 bytes of the service, 20 of the node, 6 of the group, 15 of the address.
func rowSizes(t *testing.T) (session, lease int) {
	w := newWorld(t)
	w.service, w.group = w.ID[:4], w.ID[:6]
	n := w.node()
	node := dynamolease.Node{Service: w.service, Name: "shop-5d8f9c7b6-x2x9q", Address: "10.0.12.34:8080", Groups: []string{w.group}}
	s, err := n.OpenSession(w.Context(), node, ttl)
	if err != nil {
		t.Fatal(err)
	}
	s.Signal()
	if _, err := s.Heartbeat(w.Context()); err != nil {
		t.Fatal(err)
	}
	if _, acquired, err := s.Acquire(w.Context(), w.group, 7); !acquired || err != nil {
		t.Fatal(acquired, err)
	}
	return rowSize(rowAt(n, s)), rowSize(n.row(7))
}

// most returns the largest number of nodes whose rounds, with so many readings of all the rows of the
// members, one partition key serves.
func most(session, rowsOfNode, readings int, round time.Duration) (nodes int) {
	for n := 1; ; n++ {
		if used := n * readings * units(n*rowsOfNode*session, readUnit); float64(used) > keyReads*round.Seconds() {
			return n - 1
		}
	}
}

// The figures under "Limits" in docs/operations.md follow from the sizes of rows and from what a
// partition key serves.
func TestLimits(t *testing.T) {
	session, lease := rowSizes(t)
	if withCheckpoint := lease + len("work") + 36 + len("checkpoint") + 700; withCheckpoint > writeUnit {
		t.Errorf("a lease with a checkpoint of 700 bytes has %d bytes", withCheckpoint)
	}
	session, lease = (session+9)/10*10, (lease+9)/10*10
	const long, short = 10 * time.Second, 10 * time.Second / 3
	looks := func(round time.Duration) int { return int(keyReads*round.Seconds()*readUnit) / lease }
	figures := []string{
		fmt.Sprintf("a session's row has some %d bytes, a lease's some %d", session, lease),
		fmt.Sprintf("%s nodes at rounds of 10 s, %s at 3.3 s", about(most(session, 2, 2, long)), about(most(session, 2, 2, short))),
		fmt.Sprintf("%s and %s in quiet rounds", about(most(session, 1, 1, long)), about(most(session, 1, 1, short))),
		fmt.Sprintf("nodes x partitions at most %s at rounds of 10 s, %s at 3.3 s", about(looks(long)), about(looks(short))),
		fmt.Sprintf("some %s rows a page", about(page/lease)),
		fmt.Sprintf("%d units each with 100 nodes", units(100*session, readUnit)),
	}
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.Join(strings.Fields(string(text)), " ")
	for _, figure := range figures {
		if !strings.Contains(joined, figure) {
			t.Errorf("docs/operations.md does not say %q", figure)
		}
	}
}

// about cuts a number to two significant digits.
func about(n int) string {
	scale := int(math.Pow10(max(0, len(fmt.Sprint(n))-2)))
	digits := fmt.Sprint(n / scale * scale)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
