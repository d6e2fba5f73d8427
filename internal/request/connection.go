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
	known string
}

// traced returns the context for a request whose connection is to be learned.
func (c *connection) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.known = got.Conn.LocalAddr().String() + " " + got.Conn.RemoteAddr().String()
	}})
}

// name returns both ends of the connection; empty if the client's transport does not tell.
func (c *connection) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}
