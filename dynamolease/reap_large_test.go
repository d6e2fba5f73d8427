package dynamolease_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A table of many rows of all kinds, seven in ten of them dead, some of the live ones renewed after each page that it reads: exactly the dead
// ones go, and no more than some pages of rows are in memory at a time. (The benchmark does the same with 100,000 rows.)
func TestReapLargeTable(t *testing.T) {
	const rows, segments, most = 20_000, 4, 64 << 20
	w := newWorld(t)
	if w.Server.Endpoint() == "" {
		t.Skip("a table that others use as well has other rows")
	}
	live := w.fill(rows)
	n, reaper := w.node(), w.node()
	var held []int
	for partition := range 20 {
		if _, acquired, err := n.Acquire(t.Context(), w.group, partition, "holder", time.Hour); err != nil || !acquired {
			t.Fatal(acquired, err)
		}
		held = append(held, partition)
		live[fmt.Sprintf("L#%s/P#%010d", w.group, partition)] = true
	}
	var renewals atomic.Int64
	reaper.Path.Every("Scan", dynamotest.Around(nil, func() { // between what is read and what is deleted
		renewals.Add(1)
		if leases, err := n.Renew(t.Context(), w.group, held, "holder", time.Hour); err != nil || len(leases) != len(held) {
			t.Errorf("renewed %s, %v", partitionsOf(leases), err)
		}
	}))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	report := reaper.reap(dynamolease.ReapConfig{Segments: segments})
	runtime.ReadMemStats(&after)

	if dead := rows / 10 * 7; report.Deleted != dead || report.Raced != 0 || report.Unreadable != 0 || renewals.Load() < segments {
		t.Errorf("%d dead, %d renewals: %+v", dead, renewals.Load(), report)
	}
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > most {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
	left := w.keys()
	for _, key := range left {
		if !live[key] {
			t.Errorf("%s is left", key)
		}
	}
	if len(left) != len(live) {
		t.Errorf("%d rows are left, %d are live", len(left), len(live))
	}
}

// fill writes dead leases, members, and fences, and live ones, and returns the keys of these.
func (w *world) fill(rows int) map[string]bool {
	w.Helper()
	client, live := w.Direct(), make(map[string]bool)
	for first := 0; first < rows; first += 25 {
		var puts []types.WriteRequest
		for i := first; i < first+25; i++ {
			row := w.filling(i, i%10 < 7)
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
			if i%10 >= 7 {
				live[textOf(row["pk"])+"/"+textOf(row["sk"])] = true
			}
		}
		input := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.Table: puts}}
		if _, err := client.BatchWriteItem(context.Background(), input); err != nil {
			w.Fatal(err)
		}
	}
	return live
}

func (w *world) filling(i int, dead bool) attributes {
	until, ttl := time.Hour, 25*time.Hour
	if dead {
		until, ttl = -25*time.Hour, -time.Hour
	}
	var row attributes
	switch name := fmt.Sprintf("node-%d", i); i % 3 {
	case 0:
		row = key("L#"+w.group, fmt.Sprintf("P#%010d", 1000+i))
		row["owner"], row["epoch"], row["exp"] = text(name), number("7"), millis(until)
	case 1:
		row = key("M#"+w.service, "N#"+name)
		row["node"], row["address"], row["exp"] = text(name), text("host"), millis(until)
	default:
		row = key("P#"+name, fmt.Sprintf("T#%020d", i))
		row["node"] = text(name)
	}
	row["ttl"] = seconds(ttl)
	if i%3 < 2 {
		row["rev"] = text(uuid.NewString())
	}
	return row
}
