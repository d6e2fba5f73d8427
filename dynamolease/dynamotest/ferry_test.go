package dynamotest_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// front starts a server before that of the tests, which counts the connections to it, and has Start
// use it. Requests of its gate wait there as long as it is shut.
func front(t *testing.T) (s *dynamotest.Server, dialled *atomic.Int64, gate *sync.RWMutex) {
	t.Helper()
	upstream, err := url.Parse(ownChild(t).Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	dialled, gate = new(atomic.Int64), new(sync.RWMutex)
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	transport := &http.Transport{DisableKeepAlives: true}
	proxy.Transport = transport
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.RLock()
		defer gate.RUnlock()
		proxy.ServeHTTP(w, r)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dialled.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	t.Setenv("DYNAMODB_ENDPOINT", server.URL)
	if s, err = dynamotest.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dialled, gate
}

// Requests of all bubbles share connections, and the clock stands still while one is on its way.
func TestBubblesKeepConnections(t *testing.T) {
	s, dialled, _ := front(t)
	table := s.Table(t)
	before := dialled.Load()
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			transport := s.VirtualTransport()
			defer transport.Close()
			start := time.Now()
			for range 10 {
				if err := add(t.Context(), transport.Client(noRetries), table, "row"); err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("ten requests took %v", took)
			}
			time.Sleep(time.Hour)
		})
	}
	if got := dialled.Load() - before; got > 2 {
		t.Errorf("%d connections for 30 requests, one after the other", got)
	}
}

// A request that its client has given up ends for the client at once. It arrives all the same, and
// those after it are answered.
func TestBubbleGivesARequestUp(t *testing.T) {
	s, _, gate := front(t)
	table := s.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		ctx, cancel := context.WithCancel(t.Context())
		gate.Lock()
		go cancel()
		err := add(ctx, client, table, "row")
		gate.Unlock()
		if err == nil {
			t.Error("a request that was given up succeeded")
		}
		for n := 0; n < 100 && count(t, client, table, "row") == 0; n++ {
			if err := add(t.Context(), client, table, "another"); err != nil {
				t.Fatal(err)
			}
		}
		if got := count(t, client, table, "row"); got > 1 {
			t.Errorf("applied %d times", got)
		}
	})
}

func TestNoRequestsAfterClose(t *testing.T) {
	s, _, _ := front(t)
	table := s.Table(t)
	transport := s.VirtualTransport()
	defer transport.Close()
	client := transport.Client(noRetries)
	if err := add(t.Context(), client, table, "row"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), client, table, "row"); err == nil {
		t.Error("a request after Close succeeded")
	}
}
