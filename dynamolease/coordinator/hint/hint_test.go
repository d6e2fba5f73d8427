package hint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/hint"
)

// serve starts a server that takes hints, and returns how a member says where that is, and how often
// it was told to look.
func serve(t *testing.T, name string) (dynamolease.Member, *atomic.Int32) {
	var looks atomic.Int32
	mux := http.NewServeMux()
	mux.Handle(hint.Path, hint.Handler(func() { looks.Add(1) }))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return dynamolease.Member{Node: name, Address: server.Listener.Addr().String()}, &looks
}

// sent collects what became of hints, by node.
func sent(s *hint.Sender) map[string]error {
	all := make(map[string]error)
	s.Sent = func(to dynamolease.Member, err error) { all[to.Node] = err }
	return all
}

// Hints reach all servers that are there, and those that are not are told of.
func TestSendCO30(t *testing.T) {
	a, looksOfA := serve(t, "a")
	b, looksOfB := serve(t, "b")
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	away := httptest.NewServer(http.RedirectHandler("http://"+a.Address+hint.Path, http.StatusTemporaryRedirect))
	t.Cleanup(away.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	others := []dynamolease.Member{
		a, {Node: "gone", Address: gone.Listener.Addr().String()}, {Node: "elsewhere", Address: elsewhere.Listener.Addr().String()},
		{Node: "away", Address: away.Listener.Addr().String()}, {Node: "malformed", Address: "arn:aws:ecs:x/y?z"}, {Node: "empty"}, b,
	}
	var s hint.Sender
	errs := sent(&s)
	s.Send(t.Context(), others)
	if looksOfA.Load() != 1 || looksOfB.Load() != 1 {
		t.Errorf("%d and %d looks, want one each", looksOfA.Load(), looksOfB.Load())
	}
	if len(errs) != len(others) {
		t.Errorf("told of %d hints, want %d", len(errs), len(others))
	}
	for node, err := range errs {
		if arrived := node == "a" || node == "b"; arrived != (err == nil) || err != nil && !strings.Contains(err.Error(), node) {
			t.Errorf("the hint to %s: %v", node, err)
		}
	}
}

// A receiver that takes a connection and never answers costs a quarter of a second, however many there
// are, and the others have their hints at once. Nothing is left of it.
func TestReceiverThatHangsCO30(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	a, looks := serve(t, "a")
	var s hint.Sender
	errs := sent(&s)
	s.Send(t.Context(), []dynamolease.Member{{Node: "silent", Address: silent.Addr().String()}, a})
	if looks.Load() != 1 || errs["a"] != nil || !errors.Is(errs["silent"], context.DeadlineExceeded) {
		t.Errorf("%d looks; %v", looks.Load(), errs)
	}
}

// A transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A hint takes a quarter of a second at the most, 64 are under way at the same time, each is sent
// once, and when Run ends they all end at once.
func TestSendIsBoundedCO30(t *testing.T) {
	members := func(n int) (list []dynamolease.Member) {
		for i := range n {
			list = append(list, dynamolease.Member{Node: fmt.Sprint("n", i), Address: fmt.Sprint("n", i, ":1")})
		}
		return list
	}
	for name, test := range map[string]struct {
		receivers int
		ends      time.Duration // of the context
		want      time.Duration
	}{
		"none":               {0, time.Hour, 0},
		"one":                {1, time.Hour, 250 * time.Millisecond},
		"as many as at once": {64, time.Hour, 250 * time.Millisecond},
		"more":               {65, time.Hour, 500 * time.Millisecond},
		"Run ends":           {1000, 100 * time.Millisecond, 100 * time.Millisecond},
		"Run has ended":      {1000, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var flying, most, sent atomic.Int32
				s := hint.Sender{Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					most.Store(max(most.Load(), flying.Add(1)))
					sent.Add(1)
					defer flying.Add(-1)
					return hang(r)
				})}}
				ctx, cancel := context.WithTimeout(t.Context(), test.ends)
				defer cancel()
				began := time.Now()
				s.Send(ctx, members(test.receivers))
				if took := time.Since(began); took != test.want {
					t.Errorf("took %v, want %v", took, test.want)
				}
				if most.Load() > 64 || test.ends == time.Hour && int(sent.Load()) != test.receivers || flying.Load() != 0 {
					t.Errorf("%d sent, %d at once, %d still", sent.Load(), most.Load(), flying.Load())
				}
			})
		})
	}
}

// A body counts whether it was closed, and that nobody reads it.
type body struct {
	t      *testing.T
	closed atomic.Int32
}

func (b *body) Read([]byte) (int, error) {
	b.t.Error("the body was read")
	return 0, io.EOF
}

func (b *body) Close() error {
	b.closed.Add(1)
	return nil
}

// Bodies are closed, unread. What the application has set may panic.
func TestAnswersCO30(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		panics bool
		fails  bool
	}{
		"204": {204, false, false}, "200": {200, false, false}, "302": {302, false, true}, "404": {404, false, true},
		"503": {503, false, true}, "panic": {0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &body{t: t}
			s := hint.Sender{Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				if test.panics {
					panic("no")
				}
				return &http.Response{StatusCode: test.status, Status: name, Body: b, Request: r, Header: http.Header{}}, nil
			})}}
			errs := sent(&s)
			s.Send(t.Context(), []dynamolease.Member{{Node: "a", Address: "a:1"}})
			if err, told := errs["a"]; !told || test.fails != (err != nil) {
				t.Errorf("told %v: %v", told, err)
			}
			if !test.panics && b.closed.Load() == 0 {
				t.Error("the body was not closed")
			}
		})
	}
}

// Where a member takes hints is up to the application.
func TestPlacesCO30(t *testing.T) {
	for name, test := range map[string]struct {
		url     func(dynamolease.Member) string
		address string
		want    string // "" for no hint
	}{
		"default":            {nil, "10.0.0.7:8080", "http://10.0.0.7:8080/dynamolease/look"},
		"default, IPv6":      {nil, "[2001:db8::7]:8080", "http://[2001:db8::7]:8080/dynamolease/look"},
		"default, a name":    {nil, "worker-1.local:80", "http://worker-1.local:80/dynamolease/look"},
		"a port of its own":  {hint.OnPort(9090), "10.0.0.7:5432", "http://10.0.0.7:9090/dynamolease/look"},
		"no port, but ours":  {hint.OnPort(9090), "10.0.0.7", "http://10.0.0.7:9090/dynamolease/look"},
		"IPv6 without port":  {hint.OnPort(9090), "2001:db8::7", "http://[2001:db8::7]:9090/dynamolease/look"},
		"IPv6 in brackets":   {hint.OnPort(9090), "[2001:db8::7]", "http://[2001:db8::7]:9090/dynamolease/look"},
		"a place of its own": {func(m dynamolease.Member) string { return "https://" + m.Node + "/hints" }, "x", "https://a/hints"},
		"takes none":         {func(dynamolease.Member) string { return "" }, "10.0.0.7:8080", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			s := hint.Sender{URL: test.url, Client: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				if got = r.URL.String(); r.Method != http.MethodPost || r.ContentLength != 0 {
					t.Errorf("%s with %d bytes", r.Method, r.ContentLength)
				}
				return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
			})}}
			errs := sent(&s)
			s.Send(t.Context(), []dynamolease.Member{{Node: "a", Address: test.address}})
			if err, told := errs["a"]; got != test.want || err != nil || told != (test.want != "") {
				t.Errorf("sent to %q, want %q; told %v, %v", got, test.want, told, err)
			}
		})
	}
}

// An endless body counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// The handler accepts POST alone, answers at once, and reads no body.
func TestHandlerCO30(t *testing.T) {
	member, looks := serve(t, "a")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for name, test := range map[string]struct {
		method string
		body   io.Reader
		status int
	}{
		"POST":                {http.MethodPost, nil, 204},
		"POST, small body":    {http.MethodPost, strings.NewReader(`{"owner":"me"}`), 204},
		"POST, unknown":       {http.MethodPost, io.MultiReader(strings.NewReader("look")), 204},
		"POST, a long body":   {http.MethodPost, strings.NewReader(strings.Repeat("x", 300<<10)), 204},
		"GET":                 {http.MethodGet, nil, 405},
		"HEAD":                {http.MethodHead, nil, 405},
		"PUT":                 {http.MethodPut, strings.NewReader("x"), 405},
		"DELETE":              {http.MethodDelete, nil, 405},
		"a method of its own": {"LOOK", nil, 405},
	} {
		t.Run(name, func(t *testing.T) {
			before := looks.Load()
			request, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+member.Address+hint.Path, test.body)
			if err != nil {
				t.Fatal(err)
			}
			want := int32(0)
			if test.status == 204 {
				want = 1
			}
			response, err := client.Do(request)
			if got := looks.Load() - before; got != want {
				t.Errorf("%d looks, want %d", got, want)
			}
			if err != nil && test.body != nil {
				return // the server closed the connection before it had the body
			}
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.status {
				t.Errorf("%s, want %d", response.Status, test.status)
			}
			if test.status == 405 && response.Header.Get("Allow") != http.MethodPost {
				t.Errorf("allowed: %q", response.Header.Get("Allow"))
			}
		})
	}
	t.Run("reads nothing", func(t *testing.T) {
		e := new(endless)
		request := httptest.NewRequest(http.MethodPost, hint.Path, e)
		w := httptest.NewRecorder()
		hint.Handler(func() {}).ServeHTTP(w, request)
		if w.Code != 204 || e.read.Load() != 0 || w.Header().Get("Connection") != "close" {
			t.Errorf("%d, %d bytes read, %v", w.Code, e.read.Load(), w.Header())
		}
	})
}
