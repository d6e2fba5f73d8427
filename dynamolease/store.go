package dynamolease

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Store keeps leases and members in one DynamoDB table. It is safe for concurrent use, and one per process and table
// is enough: what it has learned of the store's clock and of its own rows saves requests.
type Store struct {
	client    Client
	table     string
	renewal   Renewal
	retention time.Duration
	maxWait   time.Duration // Options.RequestTimeout
	logger    *slog.Logger

	timing *timing
	sender *request.Sender

	leases  *memory[leaseRow]
	members *memory[memberRow]
	working *keyedLock // leases under which fenced work is going on
	doubts  *doubts    // what became of earlier work is not known

	epoch      atomic.Int64 // the latest that firstEpoch gave
	background background
}

// New returns a Store on a table, which must look like the one that [Store.CreateTable] makes. It makes no request.
// The error is an [ArgumentError] that names what cannot be used.
func New(client Client, table string, optFns ...func(*Options)) (*Store, error) {
	var o Options
	for _, fn := range optFns {
		fn(&o)
	}
	o.setDefaults()
	if request.Missing(client) {
		return nil, &ArgumentError{"client", "must not be nil"}
	}
	if err := firstError(checkName("table", table), o.validate()); err != nil {
		return nil, err
	}
	node := o.nodeClock()
	clock := o.storeClock(node)
	sender := request.NewSender(clock, node)
	if o.OnRequest != nil {
		sender.OnReport(reporter(o.OnRequest))
	}
	return &Store{
		client:    client,
		table:     table,
		renewal:   o.Renewal,
		retention: o.Retention,
		maxWait:   o.RequestTimeout,
		logger:    o.Logger,
		timing:    &timing{node: nodeClock{node}, store: clock, slack: o.Clock.Slack, drift: o.Clock.DriftPPM},
		sender:    sender,
		working:   newKeyedLock(),
		doubts:    &doubts{open: make(map[key]doubt)},
		leases:    newMemory(func(r leaseRow, latest int64) bool { return !r.inSession() && r.exp < latest }),
		members:   newMemory(func(r memberRow, latest int64) bool { return r.exp < latest }),
	}, nil
}

// Now is what this process knows of the store's clock: its time lies between the two. ok is false before the first
// response, and after the node was suspended until the next one.
func (s *Store) Now() (earliest, latest time.Time, ok bool) {
	at, ok := s.timing.moment()
	return at.now.Earliest, at.now.Latest, ok
}

// firstEpoch is the epoch of a lease that has no row: the store's time, above any epoch that an older row of the partition
// can have had; see "Epochs" in the package documentation. It never goes back, though what is known of the time may.
func (s *Store) firstEpoch(at moment) int64 {
	for {
		last, next := s.epoch.Load(), at.latest()
		if next <= last {
			return last
		}
		if s.epoch.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Close waits until the background releases of abandoned acquisitions have ended, each within 10 seconds, and begins no
// more of them. A store needs no Close otherwise, and gives nothing up in it: leases and memberships stay until released,
// left or expired.
func (s *Store) Close() { s.background.wait() }

// Shares of the ttl: a request that hangs must leave time for several others, and a call that cannot get through must
// end while its caller can still do something about it.
const (
	requestsPerTTL = 6
	callsPerTTL    = 2
	patience       = 10 * time.Second // of a call without a ttl
)

// timeout bounds one request, well below the ttl.
func (s *Store) timeout(ttl time.Duration) time.Duration {
	if ttl == 0 {
		return s.maxWait
	}
	return min(s.maxWait, ttl/requestsPerTTL)
}

// budget bounds all attempts of a call, besides its context.
func (s *Store) budget(ttl time.Duration) *request.Budget {
	if ttl == 0 {
		return request.NewBudget(patience, patience/10)
	}
	return request.NewBudget(ttl/callsPerTTL, ttl/requestsPerTTL)
}

// explain wraps the error of an operation: what was tried, and what to do where the table or a permission is missing.
func (s *Store) explain(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, s.setup(err))...)
}

func (s *Store) setup(err error) error {
	var missing *types.ResourceNotFoundException
	var api smithy.APIError
	switch {
	case errors.As(err, &missing):
		return &SetupError{s.table, "it does not exist in this account and Region (or is still being created)",
			"create it with Store.CreateTable, or check the name, the credentials and the Region", err}
	case errors.As(err, &api) && denied(api, err):
		return &SetupError{s.table, "these credentials are not allowed to do that",
			"grant dynamodb:GetItem, Query, UpdateItem and ConditionCheckItem on the table, for Reap also Scan and DeleteItem, and for" +
				" CheckTable and CreateTable DescribeTable and DescribeTimeToLive, CreateTable and UpdateTimeToLive", err}
	}
	return err
}

func denied(api smithy.APIError, err error) bool {
	var response *smithyhttp.ResponseError
	return api.ErrorCode() == "AccessDeniedException" ||
		errors.As(err, &response) && response.HTTPStatusCode() == http.StatusForbidden
}

// A background runs what outlives the call that began it, until it is told to wait for all of that.
type background struct {
	mu      sync.Mutex
	over    bool
	running sync.WaitGroup
}

func (b *background) run(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.running.Go(f)
	}
}

func (b *background) wait() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.running.Wait()
}
