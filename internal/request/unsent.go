package request

import (
	"fmt"
	"net/http"
)

// byStore reports whether DynamoDB made an answer with this header: it gives each of its own an id.
func byStore(header http.Header) bool { return header.Get("X-Amzn-Requestid") != "" }

// foreign is the error of an attempt that somebody else than DynamoDB answered, such as a proxy. The
// request may have reached DynamoDB all the same.
type foreign struct{ status int }

func (f *foreign) Error() string {
	return fmt.Sprintf("the answer (%d %s) has no request id, so it is not DynamoDB's", f.status, http.StatusText(f.status))
}

// unsent is the error of an attempt that failed before its request left this process: it got no
// credentials, say, no endpoint, or no connection. An answer in it is not the store's, but of a
// service that gives credentials.
type unsent struct{ err error }

func (u *unsent) Error() string { return "not sent: " + u.err.Error() }
func (u *unsent) Unwrap() error { return u.err }
