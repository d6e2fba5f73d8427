package bench

import (
	"context"
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

// A standIn stands between the SDK and the test server. It answers some operations after a delay, without doing them, any
// number at a time; everything else goes on to the server, a query after the same delay.
type standIn struct {
	url     string
	server  *http.Server
	served  chan error
	through atomic.Bool // everything goes on to the server, at once
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
	forward := httputil.NewSingleHostReverseProxy(target)
	s := &standIn{
		url:    "http://" + listener.Addr().String(),
		served: make(chan error, 1),
	}
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); {
		case s.through.Load():
			forward.ServeHTTP(w, r)
		case slices.Contains(answered, op):
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(delay)
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			_, _ = io.WriteString(w, "{}")
		case op == "Query":
			time.Sleep(delay)
			forward.ServeHTTP(w, r)
		default:
			forward.ServeHTTP(w, r)
		}
	})}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

// close ends the stand-in and waits for it. The clients' connections must be idle.
func (s *standIn) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		return fmt.Errorf("end the stand-in: %w", err)
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the stand-in: %w", err)
	}
	return nil
}
