package dynamotest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

const (
	connectTimeout = 10 * time.Second
	probeTimeout   = 2 * time.Second
	probePeriod    = 2 * time.Millisecond
)

// newServer returns a Server for the server at endpoint, which need not run yet.
func newServer(endpoint string) *Server {
	pool := newPool()
	return &Server{
		pool:  pool,
		ferry: newFerry(pool),
		cfg: aws.Config{
			Region:       "us-east-1",
			BaseEndpoint: aws.String(endpoint),
			Credentials:  aws.CredentialsProviderFunc(dummyCredentials),
			HTTPClient:   httpClient(pool),
		},
	}
}

// connect returns a Server for one that is already running.
func connect(ctx context.Context, endpoint string) (*Server, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("parse DYNAMODB_ENDPOINT: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("parse DYNAMODB_ENDPOINT: %q is not a URL such as http://localhost:8000", endpoint)
	}
	// The server may have been started a moment ago, for example as a container.
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := awaitAnswer(ctx, endpoint); err != nil {
		return nil, fmt.Errorf("connect to DYNAMODB_ENDPOINT %s: %w", endpoint, err)
	}
	return newServer(endpoint), nil
}

// connectAWS returns a Server for DynamoDB itself.
func connectAWS(ctx context.Context) (*Server, error) {
	pool := newPool()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient(pool)))
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	creds, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		pool.CloseIdleConnections()
		return nil, fmt.Errorf("retrieve AWS credentials: %w", err)
	}
	// The first lookup of a process makes channels that all later ones use. It must not be in a bubble,
	// or lookups anywhere else would panic. Whether it finds anything does not matter.
	_, _ = net.DefaultResolver.LookupHost(ctx, "localhost")
	return &Server{cfg: cfg, creds: creds, pool: pool}, nil
}

func dummyCredentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "dynamotest", SecretAccessKey: "dynamotest", Source: "dynamotest"}, nil
}

// newPool returns a transport that keeps enough connections open for a test with many clients;
// the standard library's two per host would make the others dial for every request.
func newPool() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxIdleConnsPerHost: 256,
		TLSHandshakeTimeout: connectTimeout,
	}
}

// httpClient wraps a transport for the SDK. Like the SDK's own client it follows no redirects.
func httpClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// awaitAnswer returns when the server at endpoint answers anything at all over HTTP.
func awaitAnswer(ctx context.Context, endpoint string) error {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: probeTimeout}
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for {
		err := probe(ctx, client, endpoint)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w; last try: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

func probe(ctx context.Context, client *http.Client, endpoint string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}
