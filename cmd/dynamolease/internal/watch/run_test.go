package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// An output can be looked at while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// take returns the output since the last time.
func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return o.text.String()
}

// A scene is a watcher, and a second store that makes things happen.
type scene struct {
	testing.TB
	store *dynamolease.Store // makes things happen
	path  *dynamotest.Transport
	out   output
	cfg   Config
	stop  func() error
}

func inScene(t *testing.T, change func(*Config), test func(s *scene)) {
	t.Helper()
	server := testkit.Server(t)
	table := server.Table(t)
	synctest.Test(t, func(t *testing.T) {
		s := &scene{TB: t}
		open := func(optFns ...func(*dynamolease.Options)) (*dynamolease.Store, *dynamotest.Transport) {
			path, begun := server.VirtualTransport(), time.Now()
			t.Cleanup(path.Close)
			store, err := dynamolease.New(path.Client(), table, append(optFns, func(o *dynamolease.Options) {
				o.Elapsed = func() (time.Duration, time.Duration) { return time.Since(begun), time.Since(begun) }
				o.Logger = slog.New(slog.DiscardHandler)
			})...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			return store, path
		}
		s.store, _ = open()
		meter := new(Meter)
		watched, path := open(func(o *dynamolease.Options) { o.OnRequest = meter.Add })
		s.path = path
		s.cfg = Config{Store: watched, Meter: meter, Service: "shop", Interval: time.Second, Look: 5 * time.Second, Out: &s.out}
		if change != nil {
			change(&s.cfg)
		}
		test(s)
		if s.stop != nil {
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// begin has the watcher begin. stop ends it and returns its error.
func (s *scene) begin() {
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, s.cfg) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	time.Sleep(100 * time.Millisecond)
}

func (s *scene) open(node string) *dynamolease.Session {
	s.Helper()
	session, err := s.store.OpenSession(s.Context(), dynamolease.Node{Service: "shop", Name: node, Address: node + ":1", Groups: []string{"orders"}}, time.Minute)
	if err != nil {
		s.Fatal(err)
	}
	return session
}

func (s *scene) take(session *dynamolease.Session, partitions ...int) {
	s.Helper()
	for _, partition := range partitions {
		if _, acquired, err := session.Acquire(s.Context(), "orders", partition); err != nil || !acquired {
			s.Fatal(acquired, err)
		}
	}
}

func (s *scene) give(session *dynamolease.Session, partition int) {
	s.Helper()
	if _, err := session.Release(s.Context(), "orders", partition); err != nil {
		s.Fatal(err)
	}
}

// plainText is lines without times and epochs.
func plainText(text string) string {
	text = regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`epoch \d+`).ReplaceAllString(text, "epoch E")
}

func (s *scene) expect(want ...string) {
	s.Helper()
	time.Sleep(s.cfg.Interval)
	if got := plainText(s.out.take()); got != strings.Join(want, "") {
		s.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, ""))
	}
}

func TestLines(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		a, b := s.open("a"), s.open("b")
		s.take(a, 0, 1, 2)
		s.begin()
		s.expect("TIME  a: 3 of orders; b: 0 of orders\n")
		s.expect()
		s.give(a, 2)
		s.expect("TIME  orders/2  a -> nobody  epoch E\n", "TIME  a: 2 of orders; b: 0 of orders; nobody: 1 of orders\n")
		s.give(a, 1)
		s.take(b, 1, 2)
		s.expect("TIME  orders/1  a -> b  epoch E\n", "TIME  orders/2  nobody -> b  epoch E\n", "TIME  a: 1 of orders; b: 2 of orders\n")
		if err := s.store.Drain(s.Context(), "shop", "a"); err != nil {
			s.Fatal(err)
		}
		s.expect("TIME  a (drained): 1 of orders; b: 2 of orders\n")
		if err := b.Leave(s.Context()); err != nil {
			s.Fatal(err)
		}
		s.expect("TIME  a (drained): 1 of orders; b (no member): 2 of orders\n")
	})
}

func TestGroupsThatAreNamed(t *testing.T) {
	inScene(t, func(c *Config) { c.Groups = []string{"others"} }, func(s *scene) {
		s.take(s.open("a"), 0)
		s.begin()
		s.expect("TIME  a: 0 of others\n")
	})
}

// An outage is reported and survived. After it, the missed moves are shown.
func TestOutage(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		a := s.open("a")
		s.take(a, 0)
		s.begin()
		s.expect("TIME  a: 1 of orders\n")
		away := s.path.Every("", dynamotest.ServerError(500))
		time.Sleep(11 * time.Second)
		if got := plainText(s.out.take()); !strings.HasPrefix(got, "TIME  cannot look: it took longer than --timeout allows (5s): read members of shop") || strings.Count(got, "\n") != 1 {
			s.Errorf("got:\n%s", got)
		}
		s.take(a, 1)
		away()
		time.Sleep(15 * time.Second)
		if got := plainText(s.out.take()); got != "TIME  reached again\nTIME  orders/1  nobody -> a  epoch E\nTIME  a: 2 of orders\n" {
			s.Errorf("got:\n%s", got)
		}
	})
}

func TestFirstLookFails(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{"denied": dynamotest.AccessDenied(), "away": dynamotest.ServerError(500)} {
		t.Run(name, func(t *testing.T) {
			inScene(t, func(c *Config) { c.Style = Color }, func(s *scene) {
				s.path.Every("", fault)
				err := Run(s.Context(), s.cfg)
				var setup *dynamolease.SetupError
				if err == nil || errors.As(err, &setup) != (name == "denied") {
					s.Error(err)
				}
				if got := s.out.take(); got != "" {
					s.Errorf("the terminal was touched: %q", got)
				}
			})
		})
	}
}

func TestJSONLines(t *testing.T) {
	inScene(t, func(c *Config) { c.Style = JSON }, func(s *scene) {
		a := s.open("a")
		s.take(a, 0, 1)
		s.begin()
		read := func(held, moves int) (got snapshot) {
			s.Helper()
			time.Sleep(s.cfg.Interval)
			text := s.out.take()
			if strings.Count(text, "\n") != 1 {
				s.Fatalf("not one line: %q", text)
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				s.Fatal(err)
			}
			if len(got.Groups) != 1 || got.Groups[0].Held != held || len(got.Moves) != moves || got.Clock == nil || got.Units <= 0 {
				s.Errorf("got %s", text)
			}
			return got
		}
		read(2, 2)
		s.expect()
		s.give(a, 1)
		if m := read(1, 1).Moves[0]; m.Partition != 1 || m.From != "a" || m.To != "" || m.Epoch == 0 {
			s.Errorf("moved %+v", m)
		}
	})
}

// CO19: partitions that nobody holds are listed with since when, also those that were free before the first look.
func TestUnownedCO19(t *testing.T) {
	inScene(t, func(c *Config) { c.Style = JSON }, func(s *scene) {
		a := s.open("a")
		s.take(a, 0, 1, 2, 3)
		s.give(a, 3)
		read := func() (list []unowned) {
			s.Helper()
			time.Sleep(s.cfg.Interval)
			var got snapshot
			if err := json.Unmarshal([]byte(s.out.take()), &got); err != nil {
				s.Fatal(err)
			}
			return got.Groups[0].Unowned
		}
		s.begin()
		first := read()
		if len(first) != 1 || first[0].Partition != 3 || first[0].Since.IsZero() {
			s.Errorf("at first %+v", first)
		}
		s.give(a, 1)
		second := read()
		if len(second) != 2 || second[0].Partition != 1 || !second[1].Since.Equal(first[0].Since) || !second[0].Since.After(first[0].Since) {
			s.Errorf("then %+v", second)
		}
		s.take(a, 1, 3)
		if last := read(); len(last) != 0 {
			s.Errorf("last %+v", last)
		}
	})
}

func TestMoreNodesThanMarks(t *testing.T) {
	seen := make(map[string]bool)
	for i := range 61 {
		seen[nodeMark(i)] = true
	}
	if len(seen) != 61 || nodeMark(61) != "+" || nodeMark(1000) != "+" {
		t.Errorf("%d marks", len(seen))
	}
}
