package applied_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// In a table with more rows than the reaper reads at a time, it must stop on the second page to
// keep its position.
const (
	page    = 1000
	fillers = page + 200
)

// A hospital is a table with many rows of no interest. Tests add other rows, dead or alive.
type hospital struct {
	*world
	early, late string // groups whose rows a Scan meets on its first page, and on its second
	admissions  int
}

func newHospital(t *testing.T) *hospital {
	t.Helper()
	h := &hospital{world: apply(t)}
	h.fill(t)
	h.early, h.late = h.group(t, page/10), h.group(t, page+(fillers-page)/2)
	return h
}

// fill writes rows without ttl, each in its own group. The reaper never deletes them.
func (h *hospital) fill(t *testing.T) {
	t.Helper()
	const batch = 25
	for i := 0; i < fillers; i += batch {
		var puts []types.WriteRequest
		for j := range batch {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: key(fmt.Sprintf("L#group-%d", i+j), "-")}})
		}
		out, err := h.server.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{h.table: puts},
		})
		if err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatalf("fill the table: %d unprocessed, %v", len(out.UnprocessedItems), err)
		}
	}
}

// group returns the group of the n-th row that a Scan meets.
func (h *hospital) group(t *testing.T, n int) string {
	t.Helper()
	out, err := h.server.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: &h.table, Limit: aws.Int32(int32(n + 1))})
	if err != nil || len(out.Items) != n+1 {
		t.Fatalf("find row %d: %v", n, err)
	}
	return text(out.Items[n]["pk"])[len("L#"):]
}

// admit adds rows, dead and alive, and removes the rows from before. It returns all rows.
func (h *hospital) admit(t *testing.T) map[string]row {
	t.Helper()
	h.admissions++
	store, err := h.realStore()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Reap(t.Context(), dynamolease.ReapConfig{}); err != nil {
		t.Fatal(err)
	}
	_, err = h.server.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &h.table, Key: key("R#reaper", "POSITION")})
	if err != nil {
		t.Fatal(err)
	}
	// A bubble's time begins in the year 2000, so all rows from there are long dead.
	synctest.Test(t, func(t *testing.T) {
		if err := h.past(); err != nil {
			t.Fatal(err)
		}
	})
	if err := h.present(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return h.rows(t)
}

// past leaves dead rows of all kinds. The second page has more of them than a run may delete.
func (h *hospital) past() error {
	p := h.newPath(nil)
	defer p.transport.Close()
	store, err := h.store(p)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for group, partitions := range map[string]int{h.early: limit / 2, h.late: 2 * limit} {
		if err := acquire(ctx, store, group, 0, partitions, "dead"); err != nil {
			return err
		}
	}
	if err := acquire(ctx, store, h.late, h.revived(), 1, "dead"); err != nil {
		return err
	}
	if _, err := store.Heartbeat(ctx, dynamolease.Node{Service: "shop", Name: "dead", Address: "dead:1"}, time.Minute); err != nil {
		return err
	}
	if err := h.close(ctx, store); err != nil {
		return err
	}
	return h.boots(p, fmt.Sprintf("node-%d", h.admissions))
}

// close leaves a session that died and was closed, since somebody took one of its two leases over.
func (h *hospital) close(ctx context.Context, store *dynamolease.Store) error {
	session, err := store.OpenSession(ctx, dynamolease.Node{Service: "shop", Name: "closed", Address: "closed:1"}, ttl)
	if err != nil {
		return err
	}
	for partition := range 2 {
		if _, acquired, err := session.Acquire(ctx, h.closed(), partition); err != nil || !acquired {
			return fmt.Errorf("acquire %s/%d in a session: %v, %w", h.closed(), partition, acquired, err)
		}
	}
	time.Sleep(2 * ttl)
	return acquire(ctx, store, h.closed(), 0, 1, "taker")
}

// closed returns the group of the leases of a session that is closed. Its partition 1 is still in the
// session.
func (h *hospital) closed() string { return h.late + "-closed" }

// revived returns a partition that a live owner takes over from a dead one. Each admission has
// another one.
func (h *hospital) revived() int { return 2*limit + h.admissions }

// present leaves live rows among the dead ones.
func (h *hospital) present(ctx context.Context, store *dynamolease.Store) error {
	if err := acquire(ctx, store, h.late, h.revived(), 1, "alive"); err != nil {
		return err
	}
	if err := acquire(ctx, store, h.early+"-live", 0, 2, "alive"); err != nil {
		return err
	}
	session, err := store.OpenSession(ctx, dynamolease.Node{Service: "shop", Name: "alive", Address: "alive:1"}, time.Hour)
	if err != nil {
		return err
	}
	if _, acquired, err := session.Acquire(ctx, h.early+"-live", 2+h.admissions); err != nil || !acquired {
		return fmt.Errorf("acquire in a session: %v, %w", acquired, err)
	}
	return nil
}

func acquire(ctx context.Context, store *dynamolease.Store, group string, first, partitions int, owner string) error {
	for partition := first; partition < first+partitions; partition++ {
		if _, acquired, err := store.Acquire(ctx, group, partition, owner, time.Hour); err != nil || !acquired {
			return fmt.Errorf("acquire %s/%d: %v, %w", group, partition, acquired, err)
		}
	}
	return nil
}

func (w *world) realStore() (*dynamolease.Store, error) {
	return dynamolease.New(w.server.Client(), w.table)
}
