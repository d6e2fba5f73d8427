package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// dead makes rows of released leases whose ttl has passed, by a node of its own.
func (w *world) dead(rows int) {
	w.Helper()
	n := w.node()
	for partition := range rows {
		n.acquire(partition, "A")
		n.release(partition, "A")
	}
	time.Sleep(retention)
}

// What happens between the scan and the delete decides: the row stays.
func TestReapRaces(t *testing.T) {
	for name, between := range map[string]func(other *node){
		"acquired": func(other *node) { other.acquire(0, "B") },
		"acquired and released": func(other *node) {
			other.acquire(0, "B")
			other.release(0, "B")
		},
		"renewed": func(other *node) { // the row that was there is one of a lease of its own
			other.acquire(0, "B")
			other.renew("B", 0)
		},
		"given another ttl": func(other *node) {
			other.w.putRow("L#"+other.w.group, "P#0000000000", with(other.row(0), "ttl", seconds(time.Hour)))
		},
		"deprived of its ttl": func(other *node) {
			row := other.row(0)
			delete(row, "ttl")
			other.w.putRow("L#"+other.w.group, "P#0000000000", row)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.dead(1)
				other, n := w.node(), w.node()
				n.Path.Next("DeleteItem", dynamotest.Around(func() { between(other) }, nil))
				if report := n.reap(dynamolease.ReapConfig{}); report.Raced != 1 || report.Deleted != 0 || report.Due != 1 {
					w.Errorf("%+v", report)
				}
				if len(other.row(0)) == 0 {
					w.Error("the row is gone")
				}
			})
		})
	}
}

func with(row attributes, name string, value any) attributes {
	row[name] = value.(attributeValue)
	return row
}

func TestReapDeletedInBetween(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.dead(1)
		n := w.node()
		n.Path.Next("DeleteItem", dynamotest.Around(func() {
			if _, err := w.Direct().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &w.Table, Key: w.leaseKey(0)}); err != nil {
				w.Error(err)
			}
		}, nil))
		if report := n.reap(dynamolease.ReapConfig{}); report.Raced != 1 || report.Deleted != 0 {
			w.Errorf("%+v", report)
		}
	})
}

// A delete that is delivered long after changes nothing that came after it.
func TestReapLateDelete(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.dead(1)
		n := w.node()
		deliver := make(chan struct{})
		n.Path.Next("DeleteItem", dynamotest.Late(deliver))
		if report := n.reap(dynamolease.ReapConfig{}); report.Deleted != 1 {
			w.Errorf("%+v", report)
		}
		lease := n.acquire(0, "B")
		close(deliver)
		n.Path.Close()
		if got := w.node().owners(); len(got) != 1 || got[0].Owner != "B" || got[0].Epoch != lease.Epoch {
			w.Errorf("owners are %+v", got)
		}
	})
}

func TestReapOneFault(t *testing.T) {
	for _, op := range []string{"GetItem", "Scan", "DeleteItem"} {
		for _, fault := range faults {
			t.Run(op+"/"+fault.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) { reapOneFault(w, op, fault.fault, fault.kind) })
			})
		}
	}
}

func reapOneFault(w *world, op string, fault dynamotest.Fault, kind faultKind) {
	w.dead(3)
	n := w.node()
	n.Path.Next(op, fault)
	report, err := n.Reap(w.Context(), dynamolease.ReapConfig{})
	if kind == hopeless {
		if err == nil || report.Stopped != "" {
			w.Errorf("%+v, %v", report, err)
		}
		n.reap(dynamolease.ReapConfig{})
	} else if err != nil || report.Deleted+report.Raced != 3 || report.Unanswered != 0 {
		w.Errorf("%+v, %v", report, err)
	}
	if left := w.keys(); len(left) != 0 {
		w.Errorf("left are %v", left)
	}
}

func TestReapTwoAtOnce(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.dead(60)
		w.node().acquire(100, "A")
		reports := make(chan dynamolease.ReapReport)
		for range 2 {
			n := w.node()
			n.Path.Every("DeleteItem", dynamotest.Delay(time.Second)) // so that both have scanned
			go func() { reports <- n.reap(dynamolease.ReapConfig{}) }()
		}
		one, other := <-reports, <-reports
		if one.Deleted+other.Deleted != 60 || one.Deleted+one.Raced != one.Due || other.Deleted+other.Raced != other.Due || one.Raced+other.Raced == 0 {
			w.Errorf("%+v\n%+v", one, other)
		}
		if left := w.keys(); len(left) != 1 {
			w.Errorf("left are %v", left)
		}
	})
}

func TestReapStops(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"before the deadline, and goes on":            reapDeadline,
		"with its context":                            reapCancelled,
		"at the limit, and goes on":                   reapLimit,
		"when the store throttles, and goes on":       reapThrottled,
		"before the deadline where nothing answers":   reapDeadlineHang,
		"at the deadline with a request that hangs":   reapHang,
		"and begins anew where the place is refused":  reapBadPlace,
		"and begins anew with other segments":         reapOtherSegments,
		"and its position is lost, and nothing else":  reapLostPosition,
		"and its position is nonsense":                reapNonsense,
		"where a deadline has passed, with an error":  reapNoTime,
		"at the first error, with what it got done":   reapError,
		"and one segment is done, and the others not": reapSomeSegments,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// bulk puts rows of released leases whose ttl has passed, many at a time.
func (w *world) bulk(rows int) {
	w.Helper()
	for partition := range rows {
		w.putRow("L#"+w.group, fmt.Sprintf("P#%010d", partition), attributes{
			"ttl": seconds(-time.Hour), "rev": text("r"), "epoch": number("5"),
		})
	}
}

// twoPages is more rows than a page has.
const twoPages = 1100

func reapDeadline(w *world) {
	w.bulk(twoPages)
	n := w.node()
	n.Path.Every("DeleteItem", dynamotest.Delay(time.Second)) // 32 at a time: 36 s
	ctx, cancel := context.WithTimeout(w.Context(), 36*time.Second)
	defer cancel()
	report, err := n.Reap(ctx, dynamolease.ReapConfig{})
	if err != nil || report.Stopped != dynamolease.StoppedByDeadline || ctx.Err() != nil {
		w.Fatalf("%+v, %v, %v", report, err, ctx.Err())
	}
	if report.Deleted < 1000 || report.Deleted >= twoPages || report.Unanswered > 32 {
		w.Errorf("%+v", report)
	}
	next := w.node().reap(dynamolease.ReapConfig{})
	if !next.Resumed || next.Stopped != "" || next.Scanned > 200 {
		w.Errorf("the next: %+v", next)
	}
	if left := w.keys(); len(left) != 0 {
		w.Errorf("%d rows are left", len(left))
	}
	if last := w.node().reap(dynamolease.ReapConfig{}); last.Resumed {
		w.Errorf("the last: %+v", last)
	}
}

func reapDeadlineHang(w *world) {
	w.bulk(twoPages)
	n := w.node()
	n.Path.Every("UpdateItem", dynamotest.Hang())
	var deletes atomic.Int64
	n.Path.Every("DeleteItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if deletes.Add(1) > 1000 { // there is a position to be kept
			return dynamotest.Hang()(req, send)
		}
		return send(req)
	})
	ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
	defer cancel()
	if report, err := n.Reap(ctx, dynamolease.ReapConfig{}); err != nil || ctx.Err() != nil || report.Stopped != dynamolease.StoppedByDeadline {
		w.Errorf("%+v, %v, %v", report, err, ctx.Err())
	}
}

func reapCancelled(w *world) {
	w.dead(3)
	n := w.node()
	n.Path.Every("DeleteItem", dynamotest.Hang())
	ctx, cancel := context.WithCancel(w.Context())
	time.AfterFunc(time.Second/2, cancel)
	begun := time.Now()
	report, err := n.Reap(ctx, dynamolease.ReapConfig{})
	if !errors.Is(err, context.Canceled) || time.Since(begun) > time.Second {
		w.Errorf("%+v, %v after %v", report, err, time.Since(begun))
	}
	if report.Due != 3 || report.Deleted != 0 || report.Unanswered != 3 {
		w.Errorf("%+v", report)
	}
}

func reapLimit(w *world) {
	w.dead(10)
	for _, want := range []struct {
		deleted int
		stopped dynamolease.StopReason
	}{{4, "limit"}, {4, "limit"}, {2, ""}} {
		if report := w.node().reap(dynamolease.ReapConfig{Limit: 4}); report.Deleted != want.deleted || report.Stopped != want.stopped {
			w.Errorf("%+v, want %+v", report, want)
		}
	}
}

func reapThrottled(w *world) {
	w.bulk(twoPages)
	n := w.node()
	var deletes atomic.Int64
	n.Path.Every("DeleteItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if deletes.Add(1) > 1000 { // the rows of the first page
			return dynamotest.Throttle()(req, send)
		}
		return send(req)
	})
	report, err := n.Reap(w.Context(), dynamolease.ReapConfig{})
	if err != nil || report.Stopped != dynamolease.StoppedByThrottling || report.Throttled == 0 || report.Deleted != 1000 {
		w.Errorf("%+v, %v", report, err)
	}
	if next := w.node().reap(dynamolease.ReapConfig{}); !next.Resumed || next.Deleted != 100 || next.Scanned != 101 { // with the position
		w.Errorf("the next: %+v", next)
	}
}

func reapHang(w *world) {
	w.dead(3)
	n := w.node()
	n.Path.Every("DeleteItem", dynamotest.HangAfter())
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	defer cancel()
	report, err := n.Reap(ctx, dynamolease.ReapConfig{})
	if err != nil || report.Stopped != dynamolease.StoppedByDeadline || report.Unanswered != 3 || ctx.Err() != nil {
		w.Errorf("%+v, %v, %v", report, err, ctx.Err())
	}
}

func reapBadPlace(w *world) {
	w.dead(3)
	w.position(list(place("L#g", "P#0000000001")))
	n := w.node()
	n.Path.Next("Scan", dynamotest.Reply(http.StatusBadRequest, "ValidationException", "The provided starting key is invalid"))
	if report, err := n.Reap(w.Context(), dynamolease.ReapConfig{}); err == nil || !report.Resumed {
		w.Errorf("%+v, %v", report, err)
	}
	if report := n.reap(dynamolease.ReapConfig{}); report.Resumed || report.Deleted != 3 {
		w.Errorf("%+v", report)
	}
}

func reapOtherSegments(w *world) {
	w.dead(3)
	w.position(list(place("L#"+w.group, "P#0000000002")))
	if report := w.node().reap(dynamolease.ReapConfig{Segments: 2}); report.Resumed || report.Deleted != 3 {
		w.Errorf("%+v", report)
	}
}

func reapLostPosition(w *world) {
	w.dead(3)
	n := w.node()
	stop := n.Path.Every("UpdateItem", dynamotest.AccessDenied())
	for range 2 {
		if report := n.reap(dynamolease.ReapConfig{Limit: 1}); report.Resumed || report.Deleted != 1 || report.Stopped != "limit" {
			w.Errorf("%+v", report)
		}
	}
	stop()
	if report := n.reap(dynamolease.ReapConfig{}); report.Deleted != 1 {
		w.Errorf("%+v", report)
	}
}

func reapNonsense(w *world) {
	for _, nonsense := range []attributeValue{
		text("here"), number("1"), list(), list(text("here")), list(place("", "")), list(key("L#g", "P#1")["pk"]), list(null(), null()), list(null()),
	} {
		w.dead(1)
		w.position(nonsense)
		if report := w.node().reap(dynamolease.ReapConfig{}); report.Resumed || report.Deleted != 1 {
			w.Errorf("after %v: %+v", nonsense, report)
		}
	}
}

func reapNoTime(w *world) {
	n := w.node()
	ctx, cancel := context.WithDeadline(w.Context(), time.Now().Add(-time.Second))
	defer cancel()
	report, err := n.Reap(ctx, dynamolease.ReapConfig{})
	if !errors.Is(err, context.DeadlineExceeded) || report.Scanned != 0 {
		w.Errorf("%+v, %v", report, err)
	}
}

func reapError(w *world) {
	w.dead(40)
	n := w.node()
	n.Path.Next("DeleteItem", dynamotest.AccessDenied())
	report, err := n.Reap(w.Context(), dynamolease.ReapConfig{})
	var setup *dynamolease.SetupError
	if !errors.As(err, &setup) || !strings.Contains(err.Error(), "DeleteItem") || strings.Count(err.Error(), "AccessDenied") != 1 {
		w.Errorf("%v", err)
	}
	if report.Deleted == 40 || report.Stopped != "" {
		w.Errorf("%+v", report)
	}
}

func reapSomeSegments(w *world) {
	w.dead(40)
	w.position(list(null(), place("", "")))
	report := w.node().reap(dynamolease.ReapConfig{Segments: 2})
	if !report.Resumed || report.Stopped != "" || report.Scanned == 0 || report.Scanned == 40 {
		w.Errorf("%+v", report)
	}
	next := w.node().reap(dynamolease.ReapConfig{Segments: 2})
	if next.Resumed || report.Deleted+next.Deleted != 40 {
		w.Errorf("%+v, then %+v", report, next)
	}
}
