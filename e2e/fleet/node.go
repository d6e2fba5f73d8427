package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/jitter"
)

// The rows of a simulation are in this service and this group.
const (
	service = "fleet"
	group   = "work"
)

// A node is one process. It has its own path to the server, clock, store and coordinator.
type node struct {
	*clock
	name   string
	path   *dynamotest.Transport
	store  *dynamolease.Store
	cancel context.CancelFunc
	over   chan struct{} // closed when Run has returned
	err    error         // the result of Run
	born   time.Time
	died   time.Time // zero while it lives

	troubles troubles

	// Guarded by the watch's mutex.
	dead         bool      // it crashed
	paused       bool      // it does not run at present
	resumed      time.Time // when the latest pause ended; zero before
	stepped      bool      // its wall clock stepped: leases end before contexts do
	stopping     time.Time // when the simulation stopped it; zero before
	drainedSince time.Time // since when it is drained; zero if it is not
	mutedSince   time.Time // since when its heartbeats fail; zero if they do not
}

// gone reports whether the node does not run: it crashed, or it is paused.
func (n *node) gone() bool { return n.dead || n.paused }

// start starts a node.
func (s *simulation) start(name string) *node {
	s.born++
	n := &node{
		clock: newClock(dice(s.script.seed, name)), name: name, path: s.server.VirtualTransport(),
		over: make(chan struct{}), born: time.Now(),
	}
	if s.drained[name] {
		n.drainedSince = n.born
	}
	n.path.Latency(s.script.latency)
	n.path.Every("", n.meet(s.gate))
	if s.script.mode == coordinator.Sessions { // which need no transactions
		n.path.Every("TransactWriteItems", dynamotest.Reply(400, "ValidationException", "The table has no transactions."))
	}
	quiet := slog.New(slog.DiscardHandler)
	var err error
	n.store, err = dynamolease.New(n.path.Client(), s.table, func(o *dynamolease.Options) {
		o.Elapsed = n.elapsed
		o.Logger = quiet
	})
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(jitter.With(context.Background(), func(n time.Duration) time.Duration {
		return time.Duration(dice(s.script.seed, fmt.Sprint("jitter", name, n, time.Now().UnixNano())).Int64N(int64(n)))
	}))
	n.cancel = cancel
	cfg := coordinator.Config{
		Service: service, Node: name, Address: name + ":1", TTL: s.script.ttl, LeaseMode: s.script.mode, Logger: quiet,
		Groups: []coordinator.Group{{
			Name: group, Partitions: s.script.partitions, DrainTimeout: s.script.drain, Handler: s.watch.watched(n),
		}},
	}
	go func() {
		defer close(n.over)
		n.err = coordinator.Run(ctx, n.store, cfg)
	}()
	s.all = append(s.all, n)
	s.nodes[name] = n
	s.journal.add(name, "starts", none)
	return n
}

// stop makes a node stop gracefully. The node waits for its handlers.
func (s *simulation) stop(n *node) {
	s.watch.mu.Lock()
	n.stopping = time.Now()
	s.watch.mu.Unlock()
	s.journal.add(n.name, "is stopped", none)
	n.died = time.Now()
	delete(s.nodes, n.name)
	n.cancel()
}

// kill ends a node as kill -9 does. None of its requests reaches the store any more, and the watch
// ignores its handlers.
func (s *simulation) kill(n *node) {
	n.troubles.add("", dead())
	s.watch.mu.Lock()
	n.dead = true
	s.watch.mu.Unlock()
	s.journal.add(n.name, "crashes", none)
	n.died = time.Now()
	delete(s.nodes, n.name)
	n.cancel()
}

// sleep pauses a node, until wake.
func (s *simulation) sleep(n *node) (wake func()) {
	heal := n.troubles.add("", dynamotest.Hang())
	n.clock.sleep()
	s.watch.mu.Lock()
	n.paused = true
	s.watch.mu.Unlock()
	s.journal.add(n.name, "is paused", none)
	return func() {
		n.wake()
		s.watch.mu.Lock()
		n.paused, n.resumed = false, time.Now()
		s.watch.mu.Unlock()
		s.journal.add(n.name, "goes on", none)
		heal()
	}
}

// hours returns how long the node has lived so far.
func (n *node) hours() float64 {
	if n.died.IsZero() {
		return time.Since(n.born).Hours()
	}
	return n.died.Sub(n.born).Hours()
}
