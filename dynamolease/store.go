package dynamolease

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/internal/aside"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A Store keeps leases and members in one DynamoDB table. It is safe for concurrent use, and one per
// process and table is enough: what it has learned of the store's clock and of its own rows saves
// requests.
type Store struct {
	client    Client
	rows      *rowstore.Table
	renewal   Renewal
	retention retention
	logger    *slog.Logger // of calls that wait for their own messages
	beside    *slog.Logger // of all else
	queues    []*aside.Queue

	leases  *rowstore.Cache[leaseRow]
	members *rowstore.Cache[memberRow]
	working *rowstore.KeyedLock // leases under which fenced work is going on
	works   *knownWorks
	closed  *closedSessions
	watch   *rowWatch
	drains  refreshes

	// requests has the leases whose rows a fenced request or a renewal is on its way to.
	requests *rowstore.KeyedLock

	epoch      atomic.Int64 // the latest that firstEpoch gave
	background background
}

// New returns a Store on a table, which must look like the one that [Store.CreateTable] makes. It
// makes no request. The error is an [ArgumentError] that names the argument or option that cannot be
// used.
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
	beside, records := aside.Logger(o.Logger)
	queues := []*aside.Queue{records}
	if o.OnRequest != nil {
		report, reports := reporter(o.OnRequest, beside)
		sender.OnReport(report)
		queues = []*aside.Queue{reports, records} // a report may lead to a record
	}
	times := &rowstore.Time{Elapsed: node, Store: clock, Slack: o.Clock.Slack, Drift: o.Clock.DriftPPM}
	members := rowstore.NewCache(func(r memberRow, latest int64) bool { return r.exp < latest })
	leases := rowstore.NewCache(func(r leaseRow, latest int64) bool {
		if r.inSession() { // one of this process: members has it by its latest heartbeat
			session, known := members.Recall(r.session)
			return !known || session.Row.exp < latest
		}
		return r.exp < latest
	})
	return &Store{
		client: client,
		rows: &rowstore.Table{
			Client: client, Querier: client, Name: table, Sender: sender, MaxWait: o.RequestTimeout, Pace: request.NewPace(), Time: times,
		},
		renewal:   o.Renewal,
		retention: retention{row: o.Retention, checkpoint: o.CheckpointRetention},
		logger:    o.Logger,
		beside:    beside,
		queues:    queues,
		leases:    leases,
		members:   members,
		working:   rowstore.NewKeyedLock(),
		requests:  rowstore.NewKeyedLock(),
		works:     newKnownWorks(),
		closed:    newClosedSessions(),
		watch:     newRowWatch(times),
		drains:    refreshes{last: make(map[rowstore.Key]time.Duration)},
	}, nil
}

// Now returns what this process knows of the store's clock: its time lies between the two. ok is false
// before the first response, and after the node was suspended until the next one.
func (s *Store) Now() (earliest, latest time.Time, ok bool) {
	at, ok := s.rows.Time.Moment()
	return at.Now.Earliest, at.Now.Latest, ok
}

// firstEpoch returns the epoch of a lease that has no row: the store's time, above any epoch that an
// older row of the partition can have had; see "Epochs" in the package documentation. It never goes
// back, though what is known of the time may.
func (s *Store) firstEpoch(at rowstore.Moment) int64 {
	for {
		last, next := s.epoch.Load(), at.Latest()
		if next <= last {
			return last
		}
		if s.epoch.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Close waits until the background releases of abandoned acquisitions have ended, each within 10
// seconds, and begins no more of them. Then it waits for [Options.OnRequest] and the log handler, a
// second each at the most. A store needs no Close otherwise, and Close gives nothing up: leases and
// memberships stay until released, left or expired.
func (s *Store) Close() {
	s.background.wait()
	for _, q := range s.queues {
		q.Flush(time.Second)
	}
}

// explain wraps the error of an operation: what was tried, and what to do where the table or a
// permission is missing.
func (s *Store) explain(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, s.setup(err))...)
}

func (s *Store) setup(err error) error {
	var known *SetupError
	switch {
	case errors.As(err, &known):
		return err
	case request.NoTable(err):
		return &SetupError{s.rows.Name, "it does not exist in this account and Region (or is still being created)",
			"create it with Store.CreateTable, or check the name, the credentials and the Region", err}
	case request.Denied(err):
		return &SetupError{s.rows.Name, "these credentials are not allowed to do that",
			"grant dynamodb:GetItem, Query and UpdateItem on the table, for Lease.Check also ConditionCheckItem, for Reap also Scan" +
				" and DeleteItem, and for CheckTable and CreateTable DescribeTable and DescribeTimeToLive, CreateTable and UpdateTimeToLive", err}
	}
	return err
}

// A background runs work that outlives the call that began it, until it is told to wait for all of it.
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
