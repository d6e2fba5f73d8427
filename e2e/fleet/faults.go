package fleet

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// fault returns the fault that a cut puts on each request.
func (c cut) fault() dynamotest.Fault {
	switch c {
	case refused:
		return dynamotest.LoseRequest()
	case failing:
		return dynamotest.ServerError(http.StatusServiceUnavailable)
	default:
		return dynamotest.Hang()
	}
}

// dead returns the fault of a process that has ended. None of its requests reaches the store, and
// it does not retry.
func dead() dynamotest.Fault {
	return dynamotest.Reply(http.StatusBadRequest, "UnrecognizedClientException", "the process has ended")
}

// muted returns the fault of a node whose heartbeats fail: it refuses requests that write rows of
// members.
func muted() dynamotest.Fault {
	no := dynamotest.Reply(http.StatusBadRequest, "UnrecognizedClientException", "no heartbeats")
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if strings.Contains(bodyOf(req), `"M#`) {
			return no(req, send)
		}
		return send(req)
	}
}

// noisy returns the fault of a bad network and a busy store. Some requests meet a fault; the seed
// and the number of the request decide which.
func noisy(seed uint64, node string, percent int, met func()) dynamotest.Fault {
	var number atomic.Int64
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		r := dice(seed, fmt.Sprint("noise", node, number.Add(1)))
		if r.IntN(100) >= percent {
			return send(req)
		}
		met()
		return randomFault(r.IntN(9), between(r, time.Millisecond, 1500*time.Millisecond))(req, send)
	}
}

// randomFault returns one of the faults of a noisy network, by number.
func randomFault(n int, d time.Duration) dynamotest.Fault {
	switch n {
	case 0:
		return dynamotest.LoseRequest()
	case 1:
		return dynamotest.LoseResponse()
	case 2:
		return onlyOf("UpdateItem", dynamotest.Conflict())
	case 3:
		return dynamotest.Throttle()
	case 4:
		return dynamotest.ServerError(http.StatusInternalServerError)
	case 5:
		return dynamotest.Twice()
	case 6:
		return dynamotest.Delay(d)
	case 7:
		return dynamotest.DelayResponse(d)
	default:
		return dynamotest.HangAfter()
	}
}

// onlyOf limits a fault to one operation.
func onlyOf(op string, fault dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if strings.HasSuffix(req.Header.Get("X-Amz-Target"), op) {
			return fault(req, send)
		}
		return send(req)
	}
}

// bodyOf returns the body of a request before it is sent.
func bodyOf(req *http.Request) string {
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	return string(text)
}
