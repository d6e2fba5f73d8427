package request

import (
	"context"
	"net/http/httptrace"
	"sync"
)

// A connection learns over which connection a request went. Each is served by one machine of the
// store's, for as long as it lasts.
type connection struct {
	mu    sync.Mutex // a transport may call back late
	asked bool
	known string
}

// traced returns the context for a request whose connection is to be learned.
func (c *connection) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.asked = true
		},
		GotConn: func(got httptrace.GotConnInfo) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.known = got.Conn.LocalAddr().String() + " " + got.Conn.RemoteAddr().String()
		},
	})
}

// missing reports whether the client's transport wanted a connection for the request and got none,
// because a TLS handshake or a proxy failed, say. It wrote nothing of the request then. A transport
// that does not tell of connections misses none.
func (c *connection) missing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked && c.known == ""
}

// name returns both ends of the connection; empty if the client's transport does not tell.
func (c *connection) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}
