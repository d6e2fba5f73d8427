package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var (
	// ErrUnavailable is returned by Start when there is no server to use and none could be installed.
	// Its message says what to do. A test may skip itself on it.
	ErrUnavailable = errors.New("no DynamoDB for tests")

	// ErrNotOurs is returned by Kill and Restart when Start did not start the server itself.
	ErrNotOurs = errors.New("the server was not started by dynamotest")
)

// Options are the settings of Start.
type Options struct {
	// Dir is the directory in which a server that Start starts keeps its tables, so that they
	// outlive Kill and Restart. It is created if need be. Defaults to "": in memory.
	// A server that Start only connects to ignores it.
	Dir string
}

// Server is a running DynamoDB-compatible server. Its methods may be called concurrently.
type Server struct {
	cfg   aws.Config
	creds aws.Credentials // what Transports sign requests with again; AWS only
	pool  *http.Transport
	ferry *ferry // of requests in bubbles; nil on AWS
	child *child // nil if the server was already running
	arena arena

	mu     sync.Mutex
	closed bool
	shared string // the one table of all tests, once it exists; AWS only
}

// Start gives a running server, as the package comment describes. ctx bounds the start, not the life of
// the server; close that with Close. Start must not be called inside a synctest bubble.
//
// It fails with ErrUnavailable if there is no server to be had, and otherwise if the server that was
// asked for does not answer.
func Start(ctx context.Context, optFns ...func(*Options)) (*Server, error) {
	var opts Options
	for _, fn := range optFns {
		fn(&opts)
	}
	onAWS, endpoint := os.Getenv("DYNAMOLEASE_TEST_AWS") == "1", os.Getenv("DYNAMODB_ENDPOINT")
	switch {
	case onAWS && endpoint != "":
		return nil, errors.New("start DynamoDB for tests: both DYNAMOLEASE_TEST_AWS and DYNAMODB_ENDPOINT are set")
	case onAWS:
		return connectAWS(ctx)
	case endpoint != "":
		return connect(ctx, endpoint)
	}
	binary, err := findBinary(ctx)
	if err != nil {
		return nil, fmt.Errorf("find dynoxide: %w", err)
	}
	child, err := startChild(ctx, binary, opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	server := newServer(child.endpoint())
	server.child = child
	return server, nil
}

// Endpoint is the server's URL. It is empty on AWS, where the SDK knows it.
func (s *Server) Endpoint() string { return aws.ToString(s.cfg.BaseEndpoint) }

// Client returns an SDK client of the server with no Transport in between, in region us-east-1 with
// dummy credentials, or on AWS with the usual configuration. It does not work in a synctest bubble.
func (s *Server) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(s.cfg, optFns...)
}

// Kill ends the server at once, as kill -9 would, and returns when it is gone. Until
// Restart, connections to it are refused. It fails with ErrNotOurs if Start did not start the server.
func (s *Server) Kill() error {
	if s.child == nil {
		return ErrNotOurs
	}
	return s.child.kill()
}

// Restart starts the server again at the same endpoint, after killing it if it runs, and returns when it
// answers. Tables are as they were if Options.Dir was set, and gone otherwise. It fails with ErrNotOurs
// if Start did not start the server, and if the server does not answer within 10 seconds.
func (s *Server) Restart() error {
	if s.child == nil {
		return ErrNotOurs
	}
	return s.child.restart()
}

// Close ends a server that Start started, and returns when it is gone. On AWS it deletes the table of
// the tests. It may be called more than once; only the first call does anything.
func (s *Server) Close() error {
	s.mu.Lock()
	closed, shared := s.closed, s.shared
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	if shared != "" {
		err = s.deleteTable(shared)
	}
	if s.child != nil {
		err = errors.Join(err, s.child.close())
	}
	if s.ferry != nil {
		s.ferry.close()
	}
	s.pool.CloseIdleConnections()
	return err
}
