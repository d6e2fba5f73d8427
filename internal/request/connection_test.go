package request

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// A far is the other end of a connection.
type far func(conn net.Conn)

// after reads a request, without an answer to it.
func after(what far) far {
	return func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			what(conn)
		}
	}
}

func says(text string) far {
	return func(conn net.Conn) { _, _ = io.WriteString(conn, text) }
}

func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func hangsUp(net.Conn) {}

// dialled connects to a far end.
func dialled(end far) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, other := net.Pipe()
		go func() {
			defer other.Close()
			end(other)
		}()
		return near, nil
	}
}

// LS51: a request that got no connection was not sent, whatever kept it from one. A request that had one may have been applied.
func TestWithoutConnectionLS51(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	fails := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	hangs := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		scheme string
		proxy  string
		dial   func(context.Context, string, string) (net.Conn, error)
		want   Outcome
	}{
		"connection refused":              {"http", "", fails(refused), NotDone},
		"no such host":                    {"http", "", fails(&net.DNSError{Err: "no such host", Name: "db"}), NotDone},
		"nobody answers the dial":         {"http", "", hangs, NotDone},
		"no TLS":                          {"https", "", dialled(says("HTTP/1.1 400 Bad Request\r\n\r\n")), NotDone},
		"TLS is silent":                   {"https", "", dialled(silent), NotDone},
		"TLS hangs up":                    {"https", "", dialled(hangsUp), NotDone},
		"proxy refused":                   {"http", "http://proxy:1", fails(refused), NotDone},
		"proxy refused, TLS":              {"https", "http://proxy:1", fails(refused), NotDone},
		"proxy does not reach it":         {"https", "http://proxy:1", dialled(after(says("HTTP/1.1 502 Bad Gateway\r\n\r\n"))), NotDone},
		"proxy wants a password":          {"https", "http://proxy:1", dialled(after(says("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"))), NotDone},
		"proxy is silent":                 {"https", "http://proxy:1", dialled(after(silent)), NotDone},
		"connected, hangs up":             {"http", "", dialled(after(hangsUp)), Unknown},
		"connected, silent":               {"http", "", dialled(after(silent)), Unknown},
		"connected, half an answer":       {"http", "", dialled(after(says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"))), Unknown},
		"connected by a proxy, hangs up":  {"http", "http://proxy:1", dialled(after(hangsUp)), Unknown},
		"connected by a proxy, a 502":     {"http", "http://proxy:1", dialled(after(says("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"))), Unknown},
		"connected, hangs up when it can": {"http", "", dialled(hangsUp), Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &http.Transport{DialContext: c.dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13}}
				defer transport.CloseIdleConnections()
				if c.proxy != "" {
					proxy, err := url.Parse(c.proxy)
					if err != nil {
						t.Fatal(err)
					}
					transport.Proxy = http.ProxyURL(proxy)
				}
				outcome, err := sendOver(t, transport, c.scheme)
				if outcome != c.want || (c.want == NotDone) != strings.Contains(err.Error(), "not sent") {
					t.Errorf("outcome %v, want %v: %v", outcome, c.want, err)
				}
			})
		})
	}
}

// LS51: a client whose transport does not tell of connections tells nothing about what was sent.
func TestTransportWithoutTraceLS51(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("lost, on purpose")
		if outcome, err := sendOver(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, lost }), "http"); outcome != Unknown || !errors.Is(err, lost) {
			t.Errorf("outcome %v: %v", outcome, err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sendOver sends one request over a transport.
func sendOver(t *testing.T, transport http.RoundTripper, scheme string) (Outcome, error) {
	t.Helper()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(scheme + "://db"), Region: "us-east-1", HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
	begun := time.Now()
	node := func() elapsed.Reading {
		d := time.Since(begun)
		return elapsed.Reading{Min: d, Max: d}
	}
	sender := NewSender(storeclock.New(storeclock.Config{Elapsed: node}), node)
	_, outcome, err := sender.Do(t.Context(), time.Second, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := client.DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{}, opt)
		return err
	})
	if err == nil {
		t.Fatal("no error")
	}
	return outcome, err
}
