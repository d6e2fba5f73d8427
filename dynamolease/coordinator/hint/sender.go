package hint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	// timeout is how long a hint may take. One that takes longer is of little use, and those after it
	// wait.
	timeout = 250 * time.Millisecond

	// maxInFlight is how many hints are under way at the same time.
	maxInFlight = 64
)

// A Sender sends hints. The zero value is ready to use; its fields must not change after that.
type Sender struct {
	// URL returns where a member takes hints, and "" for one that takes none. Defaults to [Path] at the
	// member's Address, which must be a host and a port then, over plain HTTP.
	URL func(dynamolease.Member) string

	// Client makes the requests. Defaults to one that opens a connection for each hint, since hints are
	// rare; that uses no proxy; and that follows no redirect.
	Client *http.Client

	// Sent is called after each hint, one call at a time, with its error; nil for one that arrived. It is
	// for metrics: a service whose hints all fail works on at its usual pace, and nothing else shows it.
	// Defaults to none.
	Sent func(to dynamolease.Member, err error)

	once   sync.Once
	client *http.Client
}

// Send tells other members to look at the members of the service now. It is for [coordinator.Config]'s
// Hint. It sends to all of them at the same time (64 at the most), to each once, and returns when each
// has answered or has not within 250 ms, or when ctx ends.
//
// [coordinator.Config]: https://pkg.go.dev/github.com/dynamolease/dynamolease/dynamolease/coordinator#Config
func (s *Sender) Send(ctx context.Context, others []dynamolease.Member) {
	s.once.Do(s.begin)
	errs := make([]error, len(others))
	var posts sync.WaitGroup
	slots := make(chan struct{}, maxInFlight)
	for i, other := range others {
		slots <- struct{}{}
		posts.Go(func() {
			defer func() { <-slots }()
			errs[i] = s.tell(ctx, other)
		})
	}
	posts.Wait()
	for i, other := range others {
		if s.Sent != nil && !errors.Is(errs[i], errNone) {
			s.Sent(other, errs[i])
		}
	}
}

func (s *Sender) begin() {
	if s.client = s.Client; s.client == nil {
		s.client = &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: timeout}).DialContext},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
}

// errNone is returned when a member takes no hints.
var errNone = errors.New("the member takes no hints")

// tell sends one hint. A panic of what the application has set becomes an error.
func (s *Sender) tell(ctx context.Context, m dynamolease.Member) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("hint to %s: panic: %v", m.Node, r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	find := s.URL
	if find == nil {
		find = atAddress
	}
	place := find(m)
	if place == "" {
		return errNone
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, place, http.NoBody)
	if err != nil {
		return fmt.Errorf("hint to %s: %w", m.Node, err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("hint to %s: %w", m.Node, err)
	}
	_ = response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("hint to %s: %s answered %s", m.Node, place, response.Status)
	}
	return nil
}
