package examples_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/hint"
)

// Nodes tell each other over HTTP when something has changed. So a node that stops in order is followed by
// the next in a moment, not in the next round, which is up to 10 seconds away.
func Example_hints() {
	first, second := startHinted("node-1"), startHinted("node-2")
	for first.working.Load() != 2 || second.working.Load() != 2 {
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	first.stop()
	for second.working.Load() != 4 {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("all four on node-2 in less than half a round:", time.Since(began) < 5*time.Second)
	second.stop()
	// Output:
	// all four on node-2 in less than half a round: true
}

type hintedNode struct {
	working atomic.Int32 // partitions
	stop    func()
}

func startHinted(name string) *hintedNode {
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	n := new(hintedNode)
	handle := func(ctx context.Context, _ coordinator.Assignment) error {
		n.working.Add(1)
		defer n.working.Add(-1)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux) // yours: the node's own server, or one for hints alone
	cfg := coordinator.Config{
		Service: "parcels", Node: name, Address: server.Listener.Addr().String(), TTL: 30 * time.Second,
		Groups: []coordinator.Group{{Name: "parcels", Partitions: 4, Handler: handle}},
	}
	cfg.Hint = new(hint.Sender).Send // tells the others
	c, err := coordinator.New(store, cfg)
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle(hint.Path, hint.Handler(c.Look)) // is told by them
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := c.Run(ctx); err != nil {
			log.Print(err)
		}
	}()
	n.stop = func() {
		cancel()
		<-over
		server.Close()
		store.Close()
	}
	return n
}
