package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// How a cancelled transaction goes on depends on the reasons of its actions, each by its own. Where one was refused or in conflict, those
// that are still held are renewed one by one.
func TestRenewCancelled(t *testing.T) {
	const none, conflict, throttled, provisioned = "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"
	for _, test := range []struct {
		reasons string // of the first transaction, injected; empty: as the server decides
		stolen  []int
		hard    bool

		throttled bool // and so tried again later
		requests  int
	}{
		{reasons: "None None None", requests: 2},
		{reasons: "TransactionConflict None None", requests: 4},
		{reasons: "ThrottlingError None None", throttled: true, requests: 2},
		{reasons: "None ProvisionedThroughputExceeded None", throttled: true, requests: 2},
		{reasons: strings.Join([]string{conflict, throttled, provisioned}, " "), throttled: true, requests: 4},
		{reasons: "ValidationError None None", hard: true, requests: 1},
		{reasons: "TransactionConflict ThrottlingError ValidationError", hard: true, requests: 1},
		{reasons: "ItemCollectionSizeLimitExceeded None None", hard: true, requests: 1},
		{reasons: "SomethingNew None None", hard: true, requests: 1},
		{stolen: []int{2}, requests: 3},
		{stolen: []int{1, 3}, requests: 2},
		{stolen: []int{1, 2, 3}, requests: 1},
		{reasons: strings.Join([]string{conflict, none, none}, " "), stolen: []int{2}, requests: 4},
		{reasons: "ConditionalCheckFailed TransactionConflict ThrottlingError", stolen: []int{1}, requests: 3},
		{reasons: "ConditionalCheckFailed None ValidationError", stolen: []int{1}, hard: true, requests: 1},
	} {
		name := strings.ReplaceAll(fmt.Sprintf("%s stolen %v", test.reasons, test.stolen), " ", "-")
		t.Run("LS17/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				leases := map[int]dynamolease.Lease{1: a.acquire(1, "a"), 2: a.acquire(2, "a"), 3: a.acquire(3, "a")}
				time.Sleep(time.Second)
				for _, partition := range test.stolen {
					a.plant(partition, "b", 1<<50, "4000000000000")
				}
				if test.reasons != "" {
					a.Path.Next("TransactWriteItems", dynamotest.Cancelled(strings.Fields(test.reasons)...))
				}
				a.Path.Reset()
				start := time.Now()
				got, err := a.Renew(w.Context(), w.group, []int{1, 2, 3}, "a", ttl)
				if took := time.Since(start); took > 100*time.Millisecond && !test.throttled || took > ttl/2 {
					w.Errorf("it took %v, want no more than the first waits", took)
				}
				if n := a.Path.Count(""); n != test.requests {
					w.Errorf("%d requests, want %d", n, test.requests)
				}
				if test.hard {
					if err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) || !strings.Contains(err.Error(), "P#000000000") {
						w.Errorf("error %v, want one that names the row, and says no more", err)
					}
					return
				}
				if err != nil {
					w.Fatal(err)
				}
				var want []string
				for partition := 1; partition <= 3; partition++ {
					if !slices.Contains(test.stolen, partition) {
						want = append(want, strconv.Itoa(partition))
					}
				}
				if partitionsOf(got) != strings.Join(want, " ") {
					w.Errorf("renewed %s, want %v", partitionsOf(got), want)
				}
				for _, lease := range got {
					old := leases[lease.Partition]
					if lease.Epoch != old.Epoch || !lease.ExpiresAt.After(old.ExpiresAt) || lease.Remaining() <= old.Remaining() {
						w.Errorf("%+v does not extend %+v", lease, old)
					}
				}
			})
		})
	}
}

// Waits stay well below the ttl and are spread: of nodes that were turned away together no two come back together. They are short after a
// conflict. While the store throttles, they get shorter as less time is left.
func TestRenewBacksOff(t *testing.T) {
	for _, reason := range []string{"TransactionConflict", "ThrottlingError"} {
		t.Run("LS17/"+reason, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				const nodes = 4
				waits := make([][]time.Duration, nodes)
				var running sync.WaitGroup
				for i := range nodes {
					n := w.node()
					n.acquire(i, "a")
					var sent []time.Time
					note := dynamotest.Around(func() { sent = append(sent, time.Now()) }, nil)
					n.Path.Every("TransactWriteItems", dynamotest.All(note, dynamotest.Cancelled(reason)))
					n.Path.Every("UpdateItem", dynamotest.All(note, dynamotest.Conflict()))
					running.Go(func() {
						if _, err := n.Renew(w.Context(), w.group, []int{i}, "a", ttl); err == nil {
							w.Error("renewed, although the store stays busy")
						}
						for j := range sent[1:] {
							waits[i] = append(waits[i], sent[j+1].Sub(sent[j]))
						}
					})
				}
				running.Wait()
				for i, list := range waits {
					if len(list) < 4 {
						w.Fatalf("waits %v", list)
					}
					shortest, longest := 20*time.Millisecond, 51*time.Millisecond
					if reason == "ThrottlingError" {
						longest = ttl / 3
						if last := list[len(list)-1]; 2*last > list[0] {
							w.Errorf("waits of node %d do not get shorter: %v", i, list)
						}
					}
					if slices.Min(list) < shortest || slices.Max(list) > longest {
						w.Errorf("waits of node %d: %v, want %v to %v", i, list, shortest, longest)
					}
					for j := range i {
						if list[0] == waits[j][0] && list[1] == waits[j][1] {
							w.Errorf("nodes %d and %d come back together, after %v", j, i, list[:2])
						}
					}
				}
			})
		})
	}
}

// A store that stays busy is given up in time, and nothing is in doubt then.
func TestRenewStaysBusy(t *testing.T) {
	for _, reason := range []string{"None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"} {
		t.Run("LS17/"+reason, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				lease := a.acquire(1, "a")
				stop := a.Path.Every("TransactWriteItems", dynamotest.Cancelled(reason))
				alone := a.Path.Every("UpdateItem", dynamotest.Conflict())
				a.Path.Reset()
				start := time.Now()
				_, err := a.Renew(w.Context(), w.group, []int{1}, "a", ttl)
				if took := time.Since(start); took < ttl/3 || took > ttl/2+ttl/6 {
					w.Errorf("given up after %v", took)
				}
				if err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("error %v", err)
				}
				transactions, updates := a.Path.Count("TransactWriteItems"), a.Path.Count("UpdateItem")
				if split := reason == "TransactionConflict"; split && (transactions != 1 || updates > 250) || !split && (transactions < 5 || transactions > 40 || updates > 0) {
					w.Errorf("%d transactions, %d updates", transactions, updates)
				}
				stop()
				alone()
				if got := a.renew("a", 1); len(got) != 1 || got[0].Epoch != lease.Epoch {
					w.Errorf("renewed %+v after that", got)
				}
			})
		})
	}
}

// One lost among 100: the others are renewed in the same call, one by one.
func TestRenewOneLost(t *testing.T) {
	t.Run("LS15", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.node()
			all := a.acquireMany("a", 100)
			a.plant(all[40], "b", 1<<50, "4000000000000")
			// The transaction is cancelled. Of those one by one, one is applied and its answer lost.
			a.Path.Next("UpdateItem", dynamotest.LoseResponse())
			a.Path.Reset()
			got := a.renew("a", all...)
			if len(got) != 99 || slices.ContainsFunc(got, func(l dynamolease.Lease) bool { return l.Partition == all[40] }) {
				w.Errorf("renewed %d: %s", len(got), partitionsOf(got))
			}
			if n, all := a.Path.Count("TransactWriteItems"), a.Path.Count(""); n != 1 || all != 101 {
				w.Errorf("%d transactions, %d requests, want 1 and 101", n, all)
			}
		})
	})
}

// LS16: a failure fails the whole call, leases keep what they had left, and a repeated call is safe.
func TestRenewFails(t *testing.T) {
	for name, how := range modes {
		for _, fault := range []struct {
			name  string
			fault dynamotest.Fault
		}{
			{"lost requests", dynamotest.LoseRequest()}, {"lost responses", dynamotest.LoseResponse()},
			{"hangs", dynamotest.Hang()}, {"503", dynamotest.ServerError(503)},
		} {
			t.Run("LS16/"+name+"/"+fault.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) { renewFails(w, how, fault.fault) })
			})
		}
	}
}

func renewFails(w *world, how option, fault dynamotest.Fault) {
	a := w.node(how)
	leases := []dynamolease.Lease{a.acquire(1, "a"), a.acquire(2, "a")}
	stop := a.Path.Every("", fault)
	for range 3 { // whatever an earlier failure left behind
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		got, err := a.Renew(ctx, w.group, []int{1, 2}, "a", ttl)
		cancel()
		w.wantUnknown("renew", err)
		if len(got) != 0 {
			w.Errorf("leases %v beside an error", got)
		}
	}
	if left := leases[0].Remaining(); left != ttl-3*time.Second {
		w.Errorf("%v left of the old lease, want %v", left, ttl-3*time.Second)
	}
	stop()
	got := a.renew("a", 1, 2)
	if len(got) != 2 || got[0].Epoch != leases[0].Epoch || got[1].Epoch != leases[1].Epoch {
		w.Errorf("renewed %+v", got)
	}
}

// A renewal is in doubt, and without it the lease has expired by the time that the next call has read the rows of
// others: only another look can tell whether it is lost.
func TestRenewDoubtsAnExpiredLease(t *testing.T) {
	for name, how := range modes {
		t.Run("LS16/"+name+"/extended after all", func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, _ := doubtfulRenewal(w, how)
				if got := a.renew("a", 1, 2); !slices.ContainsFunc(got, func(l dynamolease.Lease) bool { return l.Partition == 1 }) {
					w.Errorf("renewed %q, but the lease on 1 was live", partitionsOf(got))
				}
			})
		})
		t.Run("LS16/"+name+"/no answer", func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, slow := doubtfulRenewal(w, how)
				*slow = func() { a.Path.Every("", dynamotest.LoseRequest()) }
				if got, err := a.Renew(w.Context(), w.group, []int{1, 2}, "a", ttl); err == nil {
					w.Errorf("renewed %v, although nobody answered", got)
				}
			})
		})
	}
}

// doubtfulRenewal extends the lease on 1 without an answer, and lets time pass until shortly before it would have
// expired without that. The next Query is slow, and calls *slow when it was answered.
func doubtfulRenewal(w *world, how option) (a *node, slow *func()) {
	a = w.node(how)
	slow = new(func())
	*slow = func() {}
	a.acquire(1, "a")
	time.Sleep(ttl / 2)
	a.Path.Next("", dynamotest.LoseResponse())
	_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
	w.wantUnknown("renew", err)
	w.node().acquire(2, "a")
	time.Sleep(ttl/2 + 500*time.Millisecond)
	a.owners()
	a.Path.Next("Query", dynamotest.Hang())
	a.Path.Next("Query", dynamotest.All(dynamotest.DelayResponse(1500*time.Millisecond), dynamotest.Around(nil, func() { (*slow)() })))
	return a, slow
}
