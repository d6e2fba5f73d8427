package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A standIn stands between the SDK and the test server. It answers some operations after a delay,
// without doing them, any number at a time. It passes everything else on to the server, a query
// after the same delay.
type standIn struct {
	url      string
	delay    time.Duration
	answered []string    // operations
	through  atomic.Bool // passes everything on at once

	server *http.Server
	served chan error
	onward *http.Transport
	proxy  *httputil.ReverseProxy
}

// writes are the operations of a renewal.
var writes = []string{"TransactWriteItems", "UpdateItem"}

func startStandIn(upstream string, delay time.Duration, answered []string) (*standIn, error) {
	target, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("parse the server's endpoint: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the stand-in: %w", err)
	}
	s := &standIn{
		url: "http://" + listener.Addr().String(), delay: delay, answered: answered, served: make(chan error, 1),
		onward: &http.Transport{MaxIdleConnsPerHost: 256}, proxy: httputil.NewSingleHostReverseProxy(target),
	}
	s.proxy.Transport = s.onward
	s.server = &http.Server{Handler: s}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	answered := slices.Contains(s.answered, op)
	if !s.through.Load() && (answered || op == "Query") {
		time.Sleep(s.delay)
		if answered {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.Header().Set("X-Amzn-Requestid", "STANDIN") // without one it is no answer of DynamoDB
			_, _ = io.WriteString(w, "{}")
			return
		}
	}
	body, err := io.ReadAll(r.Body) // completely, for the reason given at inMemory
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.proxy.ServeHTTP(w, r)
}

// close ends the stand-in and waits for it. All requests must have been answered. A connection that
// a client has opened and not used yet would delay an orderly end by seconds.
func (s *standIn) close() error {
	if err := s.server.Close(); err != nil {
		return fmt.Errorf("end the stand-in: %w", err)
	}
	s.onward.CloseIdleConnections()
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the stand-in: %w", err)
	}
	return nil
}
