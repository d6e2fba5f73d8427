package dynamotest

import (
	"net/http"
	"time"
)

// Contention is how the requests of one table hinder each other, as they do in DynamoDB and never in the
// test server. A zero field is no hindrance. DynamoDB's own limits of a partition key are 3,000 read and
// 1,000 write units a second.
type Contention struct {
	// Hold is how long a TransactWriteItems holds its rows, those of a ConditionCheck as well, and even
	// if a condition fails. It is applied when it arrives, and answered when the time is over. Meanwhile
	// other writes of a held row are refused: UpdateItem, PutItem and DeleteItem with
	// TransactionConflictException, TransactWriteItems with TransactionCanceledException and the reason
	// TransactionConflict for that row, or with TransactionInProgressException if it has the same
	// ClientRequestToken. So is TransactGetItems. GetItem and Query are served. What meets a conflict holds
	// nothing.
	Hold time.Duration

	// ReadUnits and WriteUnits are what a partition key takes in a second. Beyond that, requests get
	// ThrottlingException, as from a table on demand, and TransactWriteItems and TransactGetItems
	// TransactionCanceledException with the reason ThrottlingError for each row of that key.
	//
	// A key that was idle has one second's units in store, and no more. A request passes while anything
	// is left, and what it uses beyond that has to be made up first. The units are those that the server
	// reports. Writes that meet a conflict or fail their condition, of which it reports none, are
	// counted as of rows of up to 1 KB. What is throttled uses nothing.
	ReadUnits, WriteUnits float64
}

// Contend has the requests of a table hinder each other from now on, with all units in store; the zero
// Contention ends that. The requests of all the Server's Transports count, in whatever time they are, and
// not those of [Server.Client]. Nor do Scan, batches and PartiQL, which pass unhindered, and transactions
// that DynamoDB knows to be done already by their token. On AWS Contend does nothing.
//
// It happens at the table, after all faults of a [Transport]: a request that a fault doubles may collide
// with itself, one that arrives late collides with those of that time, and one that a fault answers with
// no other.
func (s *Server) Contend(table string, c Contention) {
	if !s.onAWS() {
		s.arena.set(table, c)
	}
}

// Usage is what the requests of a table came to since Contend.
type Usage struct {
	Requests   int     // all that arrived
	Conflicts  int     // those refused because a row of theirs was held
	Throttled  int     // those refused because of a key's limit, and for no conflict
	ReadUnits  float64 // of those that were not throttled
	WriteUnits float64

	// PeakReadUnits and PeakWriteUnits are the most that one partition key used in one second of the
	// clock. A key that was idle has a second's units in store, so that they may be twice the limit.
	PeakReadUnits, PeakWriteUnits float64
}

// Usage returns what the requests of a table came to since the last [Server.Contend] of it.
func (s *Server) Usage(table string) Usage { return s.arena.used(table) }

// contend sends a request on if others let it pass.
func (a *arena) contend(req *http.Request, send Send) (*http.Response, error) {
	if a.empty() {
		return send(req)
	}
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	d, ok := demandOf(operation(req), body)
	if !ok || !a.minds(d, time.Now()) {
		return send(req)
	}
	refusal := a.enter(d, time.Now())
	if refusal != nil {
		return refusal(req, send)
	}
	resp, err := send(withBody(req, metered(body)))
	until := a.leave(d, resp, time.Now())
	if wait := time.Until(until); wait > 0 {
		if err := pause(req, wait); err != nil {
			return nil, err
		}
	}
	return resp, err
}
