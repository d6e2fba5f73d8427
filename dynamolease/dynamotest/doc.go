// Package dynamotest is a DynamoDB for tests, as net/http/httptest is a server for tests.
//
// [Start] gives a running, DynamoDB-compatible [Server]. [Server.Table] makes a fresh table for one
// test. A [Transport] between the AWS SDK and the server records what passes and makes go wrong what
// the test asks for: lost requests, lost answers, late and doubled delivery, refusals, a wrong clock.
//
//	server, err := dynamotest.Start(ctx)
//	...
//	defer server.Close()
//
//	func TestLostAnswer(t *testing.T) {
//		table := server.Table(t)
//		transport := server.Transport()
//		defer transport.Close()
//		transport.Next("UpdateItem", dynamotest.LoseResponse())
//		client := transport.Client()
//		// The first UpdateItem of client is applied, and its answer is lost.
//	}
//
// # Which server
//
// Start takes the first of these that it finds:
//
//  1. DYNAMOLEASE_TEST_AWS=1: DynamoDB itself, with the usual AWS configuration. This costs money.
//  2. DYNAMODB_ENDPOINT: the URL of a server that is already running, such as DynamoDB Local.
//  3. The program dynoxide: DYNOXIDE_BIN, then PATH, then the user's cache.
//  4. On linux/amd64 with npm: dynoxide, one pinned version, installed into the user's cache.
//
// A dynoxide that Start found or installed is a child process of the test. It ends with
// [Server.Close], and on Linux also when the test process dies without closing it.
//
// # Virtual time
//
// A [testing/synctest] bubble has its own clock, and a real server can be used in it. Call Start outside
// the bubble, since a child process and pooled connections would never let the bubble end, and
// [Server.VirtualTransport] inside. While a request is on its way the bubble's clock stands still,
// so that the server answers in no time at all.
//
// # What the server does not do
//
// Dynoxide never answers that transactions collided, never throttles, and removes no expired rows.
// [Server.Contend] adds the first two to a table, for all its clients: transactions hold their rows for a
// while, and a partition key takes only so many units a second.
//
//	server.Contend(table, dynamotest.Contention{Hold: 40 * time.Millisecond, ReadUnits: 3000, WriteUnits: 1000})
//
// [Conflict], [Cancelled] and [Throttle] have one request meet that. For a table without transactions, as
// one with multi-Region strong consistency, refuse each of them with [Transport.Every] and [Reply]. Delete
// a row to play the part of TTL.
package dynamotest
