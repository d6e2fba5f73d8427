package dynamotest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// TestTenMinutesPassInNoTime runs ten workers for ten minutes of a bubble's time against the real server.
func TestTenMinutesPassInNoTime(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		transport.Latency(20 * time.Millisecond)
		client := transport.Client()
		start := time.Now()
		var workers sync.WaitGroup
		for range 10 {
			workers.Go(func() {
				for time.Since(start) < 10*time.Minute {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					if err := add(ctx, client, table, "row"); err != nil {
						t.Error(err)
					}
					cancel()
					time.Sleep(20 * time.Second)
				}
			})
		}
		workers.Wait()
		if got, want := count(t, client, table, "row"), transport.Count("UpdateItem"); got != want || got < 290 {
			t.Errorf("applied %d of %d", got, want)
		}
	})
	if took := time.Since(began); took > time.Minute {
		t.Errorf("ten virtual minutes took %v", took)
	}
}

func TestVirtualDateIsTheBubbles(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		for _, fault := range []dynamotest.Fault{dynamotest.All(), dynamotest.Conflict(), dynamotest.DelayResponse(5 * time.Second)} {
			time.Sleep(1500 * time.Millisecond)
			want := time.Now().UTC().Format(http.TimeFormat)
			var header http.Header
			transport.Next("GetItem", fault)
			_, _ = client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key("row")},
				func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, keepHeader(&header)) })
			if got := header.Get("Date"); got != want {
				t.Errorf("date: got %q, want %q", got, want)
			}
		}
	})
}

func TestTableWorksInABubble(t *testing.T) {
	s := server(t)
	synctest.Test(t, func(t *testing.T) {
		table := s.Table(t)
		transport := s.VirtualTransport()
		defer transport.Close()
		if err := add(t.Context(), transport.Client(), table, "row"); err != nil {
			t.Error(err)
		}
	})
}

// TestBubblesSideBySide would fail if anything with a channel in it were shared between bubbles.
func TestBubblesSideBySide(t *testing.T) {
	s := server(t)
	table := s.Table(t)
	t.Run("group", func(t *testing.T) {
		for range 4 {
			t.Run("bubble", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					transport := s.VirtualTransport()
					defer transport.Close()
					client := transport.Client()
					for range 5 {
						if err := add(t.Context(), client, table, t.Name()); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Minute)
					}
				})
			})
		}
	})
}

func TestServerCrashesInABubble(t *testing.T) {
	s := ownChild(t, func(o *dynamotest.Options) { o.Dir = t.TempDir() })
	table := s.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := s.VirtualTransport()
		defer transport.Close()
		client := transport.Client(noRetries)
		if err := add(t.Context(), client, table, "row"); err != nil {
			t.Error(err)
		}
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
		if err := add(t.Context(), client, table, "row"); err == nil {
			t.Error("a dead server answered")
		}
		time.Sleep(time.Minute)
		if err := s.Restart(); err != nil {
			t.Error(err)
		}
		if got := count(t, client, table, "row"); got != 1 {
			t.Errorf("the row was applied %d times, want 1", got)
		}
	})
}
