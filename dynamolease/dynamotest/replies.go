package dynamotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	errorNamespace = "com.amazonaws.dynamodb.v20120810#"

	ongoing = "Transaction is ongoing for the item"
	tooMuch = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table " +
		"or index so please try again shortly. If exceptions persist, check if you have a hot key."
)

// reasonMessages are DynamoDB's own of the reasons that have nothing to do with the row.
var reasonMessages = map[string]string{"TransactionConflict": ongoing, "ThrottlingError": tooMuch}

// Reply does not send the request; the client gets an error response with the given HTTP status, error
// code, such as "ValidationException", and message.
func Reply(status int, code, message string) Fault {
	return respond(status, map[string]any{"__type": errorNamespace + code, "message": message})
}

// Throttle does not send the request; the client is told ProvisionedThroughputExceededException.
// The SDK retries that by default, after up to a second.
func Throttle() Fault {
	return Reply(http.StatusBadRequest, "ProvisionedThroughputExceededException",
		"The level of configured provisioned throughput for the table was exceeded.")
}

// Conflict does not send the request; the client is told TransactionConflictException, as when the row is
// in a transaction under way. The SDK does not retry that.
func Conflict() Fault {
	return Reply(http.StatusBadRequest, "TransactionConflictException", ongoing)
}

// ServerError does not send the request; the client is told ServiceUnavailable if status is 503, and
// InternalServerError with the given status, such as 500, otherwise.
func ServerError(status int) Fault {
	if status == http.StatusServiceUnavailable {
		return Reply(status, "ServiceUnavailable", "Service is unavailable, please try again")
	}
	return Reply(status, "InternalServerError", "The request processing has failed because of an internal error")
}

// AccessDenied does not send the request; the client is told AccessDeniedException.
func AccessDenied() Fault {
	return Reply(http.StatusBadRequest, "AccessDeniedException", "User is not authorized to perform this action")
}

// overloaded is what a partition key of a table on demand answers beyond its limit.
func overloaded(writes bool) Fault {
	reason := "TableReadKeyRangeThroughputExceeded"
	if writes {
		reason = "TableWriteKeyRangeThroughputExceeded"
	}
	return respond(http.StatusBadRequest, map[string]any{
		"__type": errorNamespace + "ThrottlingException", "message": tooMuch,
		"throttlingReasons": []map[string]string{{"reason": reason}},
	})
}

// inProgress is the answer to a transaction whose token is that of one under way.
func inProgress() Fault {
	return Reply(http.StatusBadRequest, "TransactionInProgressException",
		"The transaction with the given request token is already in progress.")
}

// Cancelled does not send the request, which should be a TransactWriteItems; the client is told
// TransactionCanceledException with one reason for each action: "None", "ConditionalCheckFailed",
// "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "ValidationError", and so on.
// The SDK does not retry that.
func Cancelled(reasons ...string) Fault {
	details := make([]map[string]string, len(reasons))
	for i, reason := range reasons {
		details[i] = map[string]string{"Code": reason}
		if message := reasonMessages[reason]; message != "" {
			details[i]["Message"] = message
		} else if reason != "None" {
			details[i]["Message"] = "Injected: " + reason
		}
	}
	return respond(http.StatusBadRequest, map[string]any{
		"__type": errorNamespace + "TransactionCanceledException",
		"Message": fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
			strings.Join(reasons, ", ")),
		"CancellationReasons": details,
	})
}

// Proxy does not send the request; the client gets a page with the given HTTP status from something on
// the way, such as a proxy or a load balancer. It has a Date, but none of DynamoDB's headers.
func Proxy(status int) Fault {
	return func(req *http.Request, _ Send) (*http.Response, error) {
		page := fmt.Appendf(nil, "<html><body>%d %s</body></html>", status, http.StatusText(status))
		return response(req, status, http.Header{"Content-Type": {"text/html"}}, page), nil
	}
}

// respond does not send the request and answers it with content as JSON.
func respond(status int, content map[string]any) Fault {
	return func(req *http.Request, _ Send) (*http.Response, error) {
		body, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("encode reply: %w", err)
		}
		header := http.Header{}
		header.Set("Content-Type", "application/x-amz-json-1.0")
		header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
		header.Set("X-Amzn-Requestid", "DYNAMOTEST")
		return response(req, status, header, body), nil
	}
}

// response is an answer that is given now.
func response(req *http.Request, status int, header http.Header, body []byte) *http.Response {
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if t := transportOf(req.Context()); t != nil {
		t.stamp(header)
	} else {
		header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode:    status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}
}
