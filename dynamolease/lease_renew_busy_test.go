package dynamolease_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// transactionTime is how long a transaction keeps its rows.
const transactionTime = 40 * time.Millisecond

// locks makes the server refuse whatever meets a transaction that is under way, as DynamoDB does. It counts the writes of ownership.
type locks struct {
	mu                    sync.Mutex
	locked                map[string]bool
	transactions, updates int // that renew; of updates those that were applied
	conflicts             int
}

func (l *locks) on(n *node) *node {
	n.Path.Every("TransactWriteItems", l.pass)
	n.Path.Every("UpdateItem", l.pass)
	return n
}

func (l *locks) pass(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	reader, _ := req.GetBody()
	var body bytes.Buffer
	_, _ = body.ReadFrom(reader)
	var input struct {
		Key           json.RawMessage
		TransactItems []map[string]struct{ Key, Item json.RawMessage }
	}
	if err := json.Unmarshal(body.Bytes(), &input); err != nil {
		return nil, err
	}
	var keys []string
	for _, action := range input.TransactItems {
		for _, a := range action {
			keys = append(keys, string(a.Key)+string(a.Item))
		}
	}
	alone := len(keys) == 0
	if alone {
		keys = []string{string(input.Key)}
	}
	l.mu.Lock()
	var reasons []string
	for _, k := range keys {
		reasons = append(reasons, map[bool]string{true: "TransactionConflict", false: "None"}[l.locked[k]])
	}
	conflict := slices.Contains(reasons, "TransactionConflict")
	if conflict {
		l.conflicts++
	} else if !alone {
		for _, k := range keys {
			l.locked[k] = true
		}
	}
	renews := strings.Contains(body.String(), `"rev"`)
	if renews && !alone {
		l.transactions++
	}
	l.mu.Unlock()
	switch {
	case conflict && alone:
		return dynamotest.Conflict()(req, send)
	case conflict:
		return dynamotest.Cancelled(reasons...)(req, send)
	case !alone:
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, k := range keys {
				delete(l.locked, k)
			}
		}()
		time.Sleep(transactionTime)
	}
	response, err := send(req)
	if err == nil && renews && alone && response.StatusCode == http.StatusOK {
		l.mu.Lock()
		l.updates++
		l.mu.Unlock()
	}
	return response, err
}

// works does fenced work under a lease until ctx ends: transactions under each fourth one, checkpoints under the others.
func (n *node) works(ctx context.Context, lease dynamolease.Lease, pause time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		time.Sleep(pause)
		data := []byte(fmt.Sprint(i))
		var err error
		if lease.Partition%4 == 0 {
			err = n.Transact(ctx, lease, data, types.TransactWriteItem{Put: &types.Put{
				TableName: &n.w.Table, Item: map[string]attributeValue{"pk": text("mine"), "sk": text(fmt.Sprint(lease.Partition))},
			}})
		} else {
			err = n.Checkpoint(ctx, lease, data)
		}
		if err != nil && ctx.Err() == nil {
			n.w.Errorf("work under %d: %v", lease.Partition, err)
			return
		}
	}
}

// Many leases, under each of which there is work twice a second: none is lost, and a renewal is one transaction and an update for each lease at most.
// Work in the same store gives way, so that the two do not meet.
func TestRenewBesideWorkLS43(t *testing.T) {
	many := testkit.Size(40, 100)
	for name, how := range modes {
		for where, apart := range map[string]bool{"one store": false, "work in another store": true} {
			t.Run("B09/"+name+"/"+where, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, l := w.node(how), &locks{locked: make(map[string]bool)}
					all := a.acquireMany("a", many)
					worker := a
					if apart {
						worker = l.on(w.node(how))
					}
					leases := a.renew("a", all...)
					l.on(a)
					ctx, cancel := context.WithCancel(w.Context())
					var working sync.WaitGroup
					for i, lease := range leases {
						working.Go(func() {
							time.Sleep(time.Duration(i) * 5 * time.Millisecond)
							worker.works(ctx, lease, time.Second/2)
						})
					}
					for range 6 {
						time.Sleep(ttl / 3)
						l.transactions, l.updates = 0, 0
						if got := a.renew("a", all...); len(got) != many {
							w.Errorf("renewed %d of %d", len(got), many)
						}
						w.Logf("%d transactions, %d updates, %d conflicts so far", l.transactions, l.updates, l.conflicts)
						if l.transactions > 1 || l.updates > many || !apart && l.conflicts > 0 {
							w.Errorf("%d transactions and %d updates, %d conflicts", l.transactions, l.updates, l.conflicts)
						}
					}
					cancel()
					working.Wait()
				})
			})
		}
	}
}

// Whoever owns a lease, or takes it away, gets through beside work without a pause.
func TestOwnershipBesideWorkLS43(t *testing.T) {
	for name, how := range modes {
		for op, own := range ownershipWrites {
			for where, apart := range map[string]bool{"one store": false, "another store": true} {
				for work, partition := range map[string]int{"checkpoints": 1, "transactions": 4} {
					t.Run(name+"/"+op+"/"+where+"/"+work, func(t *testing.T) {
						inVirtualTime(t, func(w *world) {
							l := &locks{locked: make(map[string]bool)}
							a := l.on(w.node(how))
							prepareFenced(a)
							lease, other := a.lease, a
							if apart {
								other = l.on(w.node(how))
							}
							for _, n := range []*node{a, other} {
								n.Path.Latency(5 * time.Millisecond)
							}
							other.lease = lease
							ctx, cancel := context.WithCancel(w.Context())
							var working sync.WaitGroup
							working.Go(func() { a.worksOn(ctx, lease, partition == 4) })
							time.Sleep(time.Second)
							began := time.Now()
							if err := own(other); err != nil || time.Since(began) > ttl/2 {
								w.Errorf("%v after %v", err, time.Since(began))
							}
							cancel()
							working.Wait()
						})
					})
				}
			}
		}
	}
}

// worksOn does fenced work without a pause until ctx or the lease ends.
func (n *node) worksOn(ctx context.Context, lease dynamolease.Lease, transactions bool) {
	for ctx.Err() == nil {
		var err error
		if transactions {
			err = n.Transact(ctx, lease, []byte("x"), types.TransactWriteItem{Put: &types.Put{
				TableName: &n.w.Table, Item: map[string]attributeValue{"pk": text("mine"), "sk": text("1")},
			}})
		} else {
			err = n.Checkpoint(ctx, lease, []byte("x"))
		}
		if err != nil {
			return
		}
	}
}
