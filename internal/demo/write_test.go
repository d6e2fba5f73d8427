package demo

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const testTTL = 3 * time.Second

// A desk is one worker's connection to the table, with the requests that pass.
type desk struct {
	transport *dynamotest.Transport
	store     *dynamolease.Store
	results   *results
}

func newDesk(t *testing.T, table string) *desk {
	t.Helper()
	transport := startServer(t).Transport()
	t.Cleanup(transport.Close)
	client := transport.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }) // each fault is for write to see
	return &desk{transport, newStore(t, client, table), &results{client, table}}
}

func (d *desk) write(t *testing.T, lease dynamolease.Lease, words int) outcome {
	t.Helper()
	done, err := d.results.write(t.Context(), lease, tally{words: words})
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return done
}

func (d *desk) wantResult(t *testing.T, want result) {
	t.Helper()
	all, err := d.results.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := all[want.partition]; len(all) != 1 || !ok || got != want {
		t.Errorf("results are %v, want %v only", all, want)
	}
}

func TestWriteResult(t *testing.T) {
	table := startServer(t).Table(t)
	d := newDesk(t, table)
	lease := acquire(t, d.store, 5, "w1")
	done, err := d.results.write(t.Context(), lease, tally{files: 2, words: 3})
	if done != stored || err != nil {
		t.Fatalf("write = %v, %v", done, err)
	}
	d.wantResult(t, result{partition: 5, tally: tally{files: 2, words: 3}, owner: "w1", epoch: lease.Epoch})
}

func TestResultIsRefusedAfterTheLeaseWasTaken(t *testing.T) {
	table := startServer(t).Table(t)
	former, later := newDesk(t, table), newDesk(t, table)
	old := acquire(t, former.store, 5, "w1")
	if _, err := former.store.Release(t.Context(), group, 5, "w1"); err != nil {
		t.Fatal(err)
	}
	lease := acquire(t, later.store, 5, "w2")

	if got := former.write(t, old, 1); got != taken {
		t.Errorf("the former owner's write = %v, want taken", got)
	}
	if got := later.write(t, lease, 2); got != stored {
		t.Errorf("the owner's write = %v, want stored", got)
	}
	if got := former.write(t, old, 1); got != present {
		t.Errorf("the former owner's second write = %v, want present", got)
	}
	later.wantResult(t, result{partition: 5, tally: tally{words: 2}, owner: "w2", epoch: lease.Epoch})
}

// The same owner under an older epoch is refused too: it was not there in between.
func TestResultIsRefusedUnderAnOlderEpoch(t *testing.T) {
	d := newDesk(t, startServer(t).Table(t))
	old := acquire(t, d.store, 5, "w1")
	if _, err := d.store.Release(t.Context(), group, 5, "w1"); err != nil {
		t.Fatal(err)
	}
	acquire(t, d.store, 5, "w1")
	if got := d.write(t, old, 1); got != taken {
		t.Errorf("write = %v, want taken", got)
	}
}

func TestWriteResultThroughFaults(t *testing.T) {
	tests := []struct {
		name   string
		faults []dynamotest.Fault
	}{
		{"answer lost", []dynamotest.Fault{dynamotest.LoseResponse()}},
		{"requests lost", []dynamotest.Fault{dynamotest.LoseRequest(), dynamotest.LoseRequest()}},
		{"server error", []dynamotest.Fault{dynamotest.ServerError(500)}},
		{"delivered twice", []dynamotest.Fault{dynamotest.Twice()}},
		{"conflict with a renewal", []dynamotest.Fault{dynamotest.Cancelled("TransactionConflict", "None")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, startServer(t).Table(t))
			lease := acquire(t, d.store, 5, "w1")
			for _, fault := range tt.faults {
				d.transport.Next("TransactWriteItems", fault)
			}
			if got := d.write(t, lease, 1); got != stored {
				t.Errorf("write = %v, want stored", got)
			}
			d.wantResult(t, result{partition: 5, tally: tally{words: 1}, owner: "w1", epoch: lease.Epoch})
		})
	}
}

func TestWriteResultEndsWithTheTenure(t *testing.T) {
	d := newDesk(t, startServer(t).Table(t))
	tenure := newTenure(t.Context(), newClock(), acquire(t, d.store, 5, "w1"))
	d.transport.Next("TransactWriteItems", dynamotest.Around(func() { tenure.end(errTaken) }, nil))
	done, err := d.results.write(tenure.ctx, tenure.current(), tally{})
	if done != unsettled || !errors.Is(err, errTaken) {
		t.Errorf("write = %v, %v, want unsettled, %v", done, err, errTaken)
	}
}

func TestWriteResultGivesUp(t *testing.T) {
	d := newDesk(t, startServer(t).Table(t))
	lease := acquire(t, d.store, 5, "w1")
	d.results.table = "missing"
	if done, err := d.results.write(t.Context(), lease, tally{}); done != unsettled || err == nil {
		t.Errorf("write = %v, %v, want an error", done, err)
	}
}
