package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A safeLog is what nodes have logged.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func logging(l *safeLog) setting {
	return func(c *coordinator.Config) { c.Logger = slog.New(slog.NewTextHandler(l, nil)) }
}

// denial is one permission that is missing: of which operation on which rows.
type denial struct{ operation, key string }

// A node that cannot work starts nothing, and says which permission is missing; nothing has changed then. What only a takeover
// needs is told while the node works, and no more when it has been granted.
func TestMissingPermissionsCO23(t *testing.T) {
	for d, refuses := range map[denial]map[coordinator.LeaseMode]bool{
		{"Query", "M#"}:              {coordinator.Sessions: true, coordinator.PerLease: true},
		{"UpdateItem", "M#"}:         {coordinator.Sessions: true, coordinator.PerLease: true},
		{"GetItem", "M#"}:            {},
		{"Query", "L#"}:              {coordinator.Sessions: true, coordinator.PerLease: true},
		{"UpdateItem", "L#"}:         {coordinator.Sessions: true, coordinator.PerLease: true},
		{"GetItem", "L#"}:            {coordinator.Sessions: true, coordinator.PerLease: true},
		{"TransactWriteItems", "L#"}: {coordinator.PerLease: true},
	} {
		t.Run("LS31/"+d.operation+" "+d.key, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				var log safeLog
				n := w.prepare("a", 4, inMode(mode), logging(&log))
				heal := n.path.Every(d.operation, onRow(d.key, dynamotest.AccessDenied()))
				if refuses[mode] {
					err := n.Run(context.Background())
					var setup *dynamolease.SetupError
					if !errors.As(err, &setup) || !strings.Contains(setup.Problem, d.key) || !strings.Contains(setup.Remedy, "grant dynamodb:") {
						w.Errorf("%v", err)
					}
					heal()
					if members, err := w.look().Members(w.Context(), w.service); err != nil || len(members) > 0 {
						w.Errorf("members %v, %v", members, err)
					}
					n.store.Close()
					return
				}
				n.begin(context.Background())
				w.within(2*round, "working", func() bool { return len(w.works(n)) == 4 })
				if d.operation == "TransactWriteItems" {
					if n.Health() != nil || n.State().Missing != nil {
						w.Errorf("it tells %v", n.Health())
					}
					return
				}
				var setup *dynamolease.SetupError
				if health := n.Health(); !errors.As(health, &setup) || !strings.Contains(fmt.Sprint(health), "GetItem rows of M#") || n.State().Missing == nil ||
					!strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "takeover") {
					w.Errorf("health %v, log %s", health, log.String())
				}
				heal()
				w.within(3*round, "well", func() bool { return n.Health() == nil && n.State().Missing == nil })
				if !strings.Contains(log.String(), "are there now") {
					w.Errorf("log %s", log.String())
				}
			})
		})
	}
}

// A table without transactions is told before a renewal fails, by a node that needs them.
func TestMissingTransactionsCO23(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		n := w.prepare("a", 4, inMode(mode))
		n.path.Every("TransactWriteItems", dynamotest.Reply(400, "ValidationException", "Transactions are not supported"))
		n.begin(context.Background())
		w.within(round/2, "joined", func() bool { return n.State().Session != "" })
		if told := n.State().Missing != nil && n.Health() != nil; told != (mode == coordinator.PerLease) {
			w.Errorf("health %v", n.Health())
		}
	})
}

// A check that is not answered holds nothing up, and is gone on with.
func TestMissingPermissionsCO23Later(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		n := w.prepare("a", 4, inMode(mode))
		heal := n.path.Every("GetItem", onRow("M#", dynamotest.Hang()))
		n.begin(context.Background())
		w.within(2*round, "working", func() bool { return len(w.works(n)) == 4 && n.Health() == nil })
		heal()
		heal = n.path.Every("GetItem", onRow("M#", dynamotest.AccessDenied()))
		w.within(ttl, "told", func() bool { return n.State().Missing != nil && n.Health() != nil })
		heal()
		w.within(3*round, "well", func() bool { return n.State().Missing == nil && n.Health() == nil })
		requests := n.path.Count("GetItem")
		w.always(5*round, "quiet", func() bool { return n.path.Count("GetItem") == requests })
	})
}
