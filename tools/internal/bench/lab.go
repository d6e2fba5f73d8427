package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// ttl is long enough that no lease or membership runs out while it is measured.
const ttl = time.Hour

// A lab is the server and the table of all measurements. As a dynamotest.TB it gets the table from
// the server.
type lab struct {
	server  *dynamotest.Server
	table   string
	cleanup []func()
	err     error
}

func newLab(ctx context.Context) (*lab, error) {
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return nil, err
	}
	l := &lab{server: server}
	if server.Endpoint() == "" {
		return nil, errors.Join(errors.New("the benchmark needs a local server: unset DYNAMOLEASE_TEST_AWS"), l.close())
	}
	if l.table = server.Table(l); l.err != nil {
		return nil, errors.Join(l.err, l.close())
	}
	return l, nil
}

func (l *lab) close() error {
	for _, f := range l.cleanup {
		f()
	}
	return l.server.Close()
}

func (l *lab) Helper()                           {}
func (l *lab) Name() string                      { return "bench" }
func (l *lab) Logf(format string, args ...any)   { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (l *lab) Fatalf(format string, args ...any) { l.err = fmt.Errorf(format, args...) }
func (l *lab) Cleanup(f func())                  { l.cleanup = append(l.cleanup, f) }

// A party has the names that one side of a comparison uses alone. The names of all parties are
// equally long, and so are their rows and requests.
type party struct {
	client  *dynamodb.Client
	table   string
	group   string
	service string
	owner   string
}

func (l *lab) party(client *dynamodb.Client) party {
	id := uuid.NewString()
	return party{client: client, table: l.table, group: "orders-" + id[:8], service: "shop-" + id[:8], owner: "worker-" + id}
}

// client returns a client with nothing between it and the server.
func (l *lab) client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	direct := l.server.Client().Options().HTTPClient
	return l.server.Client(append(optFns, withoutRetries, func(o *dynamodb.Options) { o.HTTPClient = inMemory{direct} })...)
}

// An inMemory gives net/http the bytes of a request in place of the SDK's own reader. The SDK
// closes that as soon as the answer begins. If net/http then looks for its end, it gets an error in
// smithy-go 1.28.9 (safeWriteToReadCloser) and closes the connection with the answer unread. A
// server on the same machine is fast enough for that now and then: the library would try again, but
// the bare side could not go on.
type inMemory struct{ dynamodb.HTTPClient }

func (m inMemory) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.ContentLength > 0 {
		body := make([]byte, req.ContentLength)
		if _, err := io.ReadFull(req.Body, body); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return m.HTTPClient.Do(req)
}

// withoutRetries configures the SDK as the library does.
func withoutRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// seedLeases writes rows of live leases on the partitions 0 to n-1 of the party's group.
func (p party) seedLeases(ctx context.Context, n int, owner string) error {
	rows := make([]map[string]types.AttributeValue, n)
	for i := range rows {
		now := time.Now()
		rows[i] = key("L#"+p.group, partitionKey(i))
		rows[i]["owner"] = text(owner)
		rows[i]["epoch"] = number(now.UnixMilli())
		rows[i]["exp"] = number(now.Add(ttl).UnixMilli())
		rows[i]["ttl"] = number(now.Add(25 * time.Hour).Unix())
		rows[i]["rev"] = text(uuid.NewString())
	}
	return p.seed(ctx, rows)
}

// seedMembers writes rows of n live members of the party's service.
func (p party) seedMembers(ctx context.Context, n int) error {
	rows := make([]map[string]types.AttributeValue, n)
	for i := range rows {
		now, name := time.Now(), nodeName(i)
		rows[i] = key("M#"+p.service, "N#"+name)
		rows[i]["node"] = text(name)
		rows[i]["address"] = text(address)
		rows[i]["groups"] = texts(groups)
		rows[i]["exp"] = number(now.Add(ttl).UnixMilli())
		rows[i]["ttl"] = number(now.Add(25 * time.Hour).Unix())
		rows[i]["rev"] = text(uuid.NewString())
	}
	return p.seed(ctx, rows)
}

func (p party) seed(ctx context.Context, rows []map[string]types.AttributeValue) error {
	const most = 25 // in one BatchWriteItem
	for len(rows) > 0 {
		n := min(most, len(rows))
		var puts []types.WriteRequest
		for _, row := range rows[:n] {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
		}
		out, err := p.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{p.table: puts},
		})
		if err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
		if len(out.UnprocessedItems) > 0 {
			return errors.New("write rows: the server did not take all of them")
		}
		rows = rows[n:]
	}
	return nil
}

const address = "10.20.30.40:8080"

// groups are sorted, as the library writes them.
var groups = []string{"invoices", "orders", "shipments"}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func partitionKey(partition int) string { return fmt.Sprintf("P#%010d", partition) }

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text(pk), "sk": text(sk)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func texts(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = text(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}
