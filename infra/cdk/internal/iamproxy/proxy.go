package iamproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// Transport returns a transport that sends through base those requests that the guard allows, and
// answers the others itself.
func (g *Guard) Transport(base http.RoundTripper) http.RoundTripper { return &gate{g, base} }

// Proxy starts a server on this machine that passes requests on to the server at target. Close it
// when done.
func (g *Guard) Proxy(target string) (*httptest.Server, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("parse the target of a proxy: %w", err)
	}
	return httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport: g.Transport(http.DefaultTransport),
	}), nil
}

type gate struct {
	guard *Guard
	base  http.RoundTripper
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read a request to judge it: %w", err)
		}
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	if err := g.guard.judge(operation, body); err != nil {
		return denial(req, operation, err)
	}
	passed := req.Clone(req.Context())
	passed.Body = io.NopCloser(bytes.NewReader(body))
	return g.base.RoundTrip(passed)
}

// denial returns the answer of DynamoDB to a request that IAM does not allow.
func denial(req *http.Request, operation string, why error) (*http.Response, error) {
	body, err := json.Marshal(map[string]string{
		"__type":  "com.amazon.coral.service#AccessDeniedException",
		"Message": fmt.Sprintf("User is not authorized to perform: dynamodb:%s because no identity-based policy allows it (%v)", operation, why),
	})
	if err != nil {
		return nil, fmt.Errorf("encode a refusal: %w", err)
	}
	return &http.Response{
		Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.0"},
			"Date":         {time.Now().UTC().Format(http.TimeFormat)},
			// Without it the answer would be none of DynamoDB's.
			"X-Amzn-Requestid": {"IAMPROXY"},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
