package dynamotest

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// VirtualTransport returns a new Transport for a synctest bubble. Call it inside the bubble that uses it, and
// close it there. The Date header of responses is the bubble's time, in whole seconds.
//
// Its requests go over connections outside of the bubble, which all of a Server's Transports share. On AWS
// it keeps no connections open, since an idle connection is never durably blocked and so would stop
// the bubble's clock, and requests are signed again with the real time.
func (s *Server) VirtualTransport() *Transport {
	t := &Transport{server: s, base: s.ferry, virtual: true, closing: make(chan struct{})}
	if s.onAWS() {
		t.base = freshConnections()
	}
	return t
}

// freshConnections returns a transport that keeps no connection, and works inside a bubble.
func freshConnections() http.RoundTripper {
	return &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DisableKeepAlives: true,
		// The default resolver shares lookups, and with them channels, with other bubbles. (The channels
		// that all resolvers share are made outside of bubbles, by the first lookup: that of Start.)
		DialContext:     (&net.Dialer{Resolver: new(net.Resolver)}).DialContext,
		TLSClientConfig: &tls.Config{Time: realNow}, // certificates are not valid in a bubble's year 2000
	}
}

// sign replaces the signature of a request by one that AWS accepts now.
func (s *Server) sign(req *http.Request) error {
	body, err := readBody(req)
	if err != nil {
		return fmt.Errorf("read request to sign it: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		req.Header.Del(name)
	}
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(req.Context(), s.creds, req, hex.EncodeToString(hash[:]), "dynamodb", s.cfg.Region, realNow())
	if err != nil {
		return fmt.Errorf("sign request: %w", err)
	}
	return nil
}

// realNow is the machine's time even inside a bubble.
func realNow() time.Time {
	var tv syscall.Timeval
	if err := syscall.Gettimeofday(&tv); err != nil {
		return time.Now()
	}
	return time.Unix(int64(tv.Sec), int64(tv.Usec)*1000)
}
