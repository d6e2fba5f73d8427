package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// faultyEndpoint returns the URL of a DynamoDB whose requests pass through a transport. If the
// transport fails, the connection breaks.
func faultyEndpoint(t *testing.T) (url string, transport *dynamotest.Transport) {
	t.Helper()
	server := testkit.Server(t)
	transport = server.Transport()
	t.Cleanup(transport.Close)
	proxy := httptest.NewServer(passThrough(server.Endpoint(), transport))
	t.Cleanup(proxy.Close)
	return proxy.URL, transport
}

func passThrough(endpoint string, transport *dynamotest.Transport) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, endpoint, bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Header = r.Header.Clone()
		res, err := transport.RoundTrip(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	})
}
