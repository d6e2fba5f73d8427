package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// probe bounds each part of reach.
const probe = 3 * time.Second

// reach checks that the given endpoint answers, or the proxy through which requests go there. It
// reports whether the endpoint is on this machine. Without this check a store would try for ten
// seconds.
func (c *connection) reach(ctx context.Context, endpoint string) (local bool, err error) {
	if endpoint == "" {
		return false, nil
	}
	u, err := parseEndpoint("the endpoint URL", endpoint)
	if err != nil {
		return false, err
	}
	proxy, err := c.proxy(u)
	if err == nil && proxy != nil {
		err = reachProxy(ctx, proxy)
	}
	if err != nil || proxy != nil {
		return false, err
	}
	conn, err := dial(ctx, u)
	if err != nil {
		return false, fmt.Errorf("reach %s: %w", endpoint, err)
	}
	defer conn.Close()
	if u.Scheme == "https" {
		if err := refusesTLS(ctx, conn, u.Hostname()); err != nil {
			return false, fmt.Errorf("reach %s: %w", endpoint, err)
		}
	}
	remote, _ := conn.RemoteAddr().(*net.TCPAddr)
	return remote != nil && remote.IP.IsLoopback(), nil
}

// proxy returns the proxy through which the client sends requests to an endpoint, and nil for none.
func (c *connection) proxy(endpoint *url.URL) (*url.URL, error) {
	transport, ok := c.client.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return nil, nil
	}
	proxy, err := transport.Proxy(&http.Request{URL: endpoint})
	if err != nil {
		return nil, fmt.Errorf("find the proxy for %s: %w", endpoint.Redacted(), err)
	}
	return proxy, nil
}

// reachProxy checks that a proxy is there. Its error is like that of a request that does not get there.
func reachProxy(ctx context.Context, proxy *url.URL) error {
	conn, err := dial(ctx, proxy)
	if err != nil {
		return fmt.Errorf("reach the proxy %s: %w", proxy.Redacted(), &net.OpError{Op: proxyConnect, Net: "tcp", Err: err})
	}
	return conn.Close()
}

// proxyConnect is the operation that fails, as net/http says it, if a proxy cannot be reached.
const proxyConnect = "proxyconnect"

func dial(ctx context.Context, to *url.URL) (net.Conn, error) {
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[to.Scheme]
	}
	dialer := net.Dialer{Timeout: probe}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(to.Hostname(), port))
}

// refusesTLS returns an error if the server speaks another protocol. The SDK finds all other
// problems, such as a bad certificate, by its own settings.
func refusesTLS(ctx context.Context, conn net.Conn, host string) error {
	ctx, cancel := context.WithTimeout(ctx, probe)
	defer cancel()
	var record tls.RecordHeaderError
	if err := tls.Client(conn, &tls.Config{ServerName: host}).HandshakeContext(ctx); errors.As(err, &record) {
		return record
	}
	return nil
}
