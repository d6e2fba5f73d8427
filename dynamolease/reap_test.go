package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

type attributes = map[string]types.AttributeValue

// retention is by how much the row of a lease outlives its last use, and more than a node doubts the time that has made no
// request for as long.
const retention = 24*time.Hour + time.Minute

func (n *node) reap(cfg dynamolease.ReapConfig) dynamolease.ReapReport {
	n.w.Helper()
	report, err := n.Reap(n.w.Context(), cfg)
	if err != nil {
		n.w.Fatalf("reap: %+v, %v", report, err)
	}
	return report
}

// put writes a row past the store.
func (w *world) putRow(pk, sk string, row attributes) {
	w.Helper()
	item := key(pk, sk)
	for name, value := range row {
		item[name] = value
	}
	w.Put(item)
}

// keys are the keys of all rows of the table, but for the reaper's own.
func (w *world) keys() []string {
	w.Helper()
	var keys []string
	pages := dynamodb.NewScanPaginator(w.Direct(), &dynamodb.ScanInput{TableName: &w.Table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			w.Fatal(err)
		}
		for _, row := range page.Items {
			pk := row["pk"].(*types.AttributeValueMemberS).Value
			if sk := row["sk"].(*types.AttributeValueMemberS).Value; pk != "R#reaper" {
				keys = append(keys, pk+"/"+sk)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// seconds is a moment from now on as a ttl has it.
func seconds(fromNow time.Duration) types.AttributeValue {
	return number(fmt.Sprint(time.Now().Add(fromNow).Unix()))
}

func millis(fromNow time.Duration) types.AttributeValue {
	return number(fmt.Sprint(time.Now().Add(fromNow).UnixMilli()))
}

func TestReap(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"deletes what is dead and keeps what is live":           reapLife,
		"deletes nothing that it must not":                      reapKinds,
		"names rows that it cannot read":                        reapUnreadable,
		"C59/a row whose ttl has passed and that is live stays": reapLive,
		"LS10/a reaped lease goes on with a greater epoch":      reapEpochs,
		"a row stays for the grace after its ttl":               reapGrace,
		"a lease of a dead session is taken after a reaping":    reapSession,
		"finds the same with any number of segments":            reapSegments,
		"costs half of a consistent scan, and one read":         reapCost,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func reapLife(w *world) {
	n := w.node()
	n.acquire(1, "A") // will expire
	n.acquire(2, "A")
	n.release(2, "A")
	n.heartbeat("gone", "host:1")
	n.heartbeat("left", "host:2")
	n.leave("left")
	time.Sleep(retention + ttl)
	n.acquire(3, "B")
	n.acquire(4, "B")
	n.release(4, "B")
	n.heartbeat("here", "host:3")
	session, err := n.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "C", Address: "host:4"}, ttl)
	if err != nil {
		w.Fatal(err)
	}
	if _, acquired, err := session.Acquire(w.Context(), w.group, 5); err != nil || !acquired {
		w.Fatal(acquired, err)
	}
	report := n.reap(dynamolease.ReapConfig{})
	if report.Due != 4 || report.Deleted != 4 || report.Scanned != 9 || report.Stopped != "" || report.Resumed {
		w.Errorf("%+v", report)
	}
	lease, member := "L#"+w.group+"/P#000000000", "M#"+w.service+"/N#"
	want := []string{lease + "3", lease + "4", lease + "5", member + session.ID(), member + "here"}
	if got := w.keys(); strings.Join(got, " ") != strings.Join(want, " ") {
		w.Errorf("left are\n%v, want\n%v", got, want)
	}
	if again := n.reap(dynamolease.ReapConfig{}); again.Due != 0 || again.Scanned != 6 { // with the position
		w.Errorf("again: %+v", again)
	}
}

func reapKinds(w *world) {
	past, rev := seconds(-time.Hour), text("r")
	w.putRow("P#n", "HEAD", attributes{"ttl": past, "rev": rev, "node": text("n")})
	w.putRow("L#g", "P#0000000001", attributes{"rev": rev, "epoch": number("5")}) // without ttl
	w.putRow("M#s", "N#A#1", attributes{"exp": millis(-time.Hour), "rev": rev, "node": text("A"), "address": text("h"), "session": text("A#1"), "opened": number("1")})
	w.putRow("L#g", "P#0000000002", attributes{"ttl": past, "rev": rev, "epoch": number("5"), "owner": text("A"), "service": text("s"), "session": text("A#1")})
	w.putRow("M#s", "N#A", attributes{"exp": millis(-time.Hour), "rev": rev, "node": text("A"), "address": text("h")}) // without ttl
	w.putRow("orders", "17", attributes{"ttl": past, "rev": rev})
	w.putRow("P#n", "T#00000000000000000002", attributes{"node": text("n")}) // evidence that may be needed
	kept := w.keys()
	w.putRow("P#n", "T#00000000000000000003", attributes{"ttl": past, "node": text("n")})
	w.putRow("P#n", "F#0b5c4ea6-6c52-4b6e-9f0c-5a2f4a3b8f11", attributes{"ttl": past, "node": text("n")})
	report := w.node().reap(dynamolease.ReapConfig{})
	if report.Deleted != 2 || report.Kept != 3 || report.Due != 5 || report.Freed != 0 || report.Unreadable != 0 {
		w.Errorf("%+v", report)
	}
	if got := w.keys(); strings.Join(got, " ") != strings.Join(kept, " ") {
		w.Errorf("left are\n%v, want\n%v", got, kept)
	}
}

func reapUnreadable(w *world) {
	past, rev := seconds(-time.Hour), text("r")
	for i := range 12 {
		w.putRow("L#g", fmt.Sprintf("P#%010d", i), attributes{"ttl": past, "rev": rev, "epoch": text("five")})
	}
	w.putRow("L#g", "P#1", attributes{"ttl": past, "rev": rev, "epoch": number("5")})
	w.putRow("L#g", "P#0000000100", attributes{"ttl": text("yesterday"), "rev": rev, "epoch": number("5")})
	w.putRow("L#g", "P#0000000101", attributes{"ttl": number("12.5"), "rev": rev, "epoch": number("5")})
	w.putRow("L#g", "P#0000000102", attributes{"ttl": past, "epoch": number("5")})
	w.putRow("M#s", "N#A", attributes{"ttl": past, "rev": rev, "node": text("B"), "address": text("h"), "exp": millis(-time.Hour)})
	w.putRow("P#n", "WHAT", attributes{"ttl": past, "rev": rev})
	before := w.keys()
	report := w.node().reap(dynamolease.ReapConfig{})
	if report.Unreadable != len(before) || report.Deleted != 0 || len(report.Malformed) != 10 {
		w.Errorf("%+v", report)
	}
	var row *dynamolease.RowError
	if !errors.As(report.Malformed[0], &row) || row.SK == "" || row.Attribute == "" {
		w.Errorf("the first is %v", report.Malformed[0])
	}
	if got := w.keys(); strings.Join(got, " ") != strings.Join(before, " ") {
		w.Errorf("left are %v, want %v", got, before)
	}
}

func reapLive(w *world) {
	rev, past := text("r"), seconds(-time.Hour)
	w.putRow("L#"+w.group, "P#0000000001", attributes{"ttl": past, "rev": rev, "epoch": number("5"), "owner": text("A"), "exp": millis(ttl)})
	w.putRow("M#"+w.service, "N#A", attributes{"ttl": past, "rev": rev, "node": text("A"), "address": text("h"), "exp": millis(ttl)})
	n := w.node()
	if report := n.reap(dynamolease.ReapConfig{}); report.Kept != 2 || report.Deleted != 0 {
		w.Errorf("%+v", report)
	}
	if winner := n.refused(1, "B"); winner.Owner != "A" || winner.Epoch != 5 {
		w.Errorf("the lease is %+v", winner)
	}
	if got := n.members(); len(got) != 1 {
		w.Errorf("members are %v", got)
	}
	w.expire()
	// Nobody reaped it, and it is acquirable all the same.
	if lease := n.acquire(1, "B"); lease.Epoch != 6 {
		w.Errorf("acquired %+v", lease)
	}
}

func reapEpochs(w *world) {
	n := w.node()
	var last int64
	for range 5 {
		for range 10 { // as fast as it goes
			lease := n.acquire(1, "A")
			if lease.Epoch <= last {
				w.Fatalf("epoch %d after %d", lease.Epoch, last)
			}
			last = lease.Epoch
			n.release(1, "A")
		}
		time.Sleep(retention)
		if report := w.node().reap(dynamolease.ReapConfig{}); report.Deleted != 1 {
			w.Fatalf("%+v", report)
		}
	}
}

func reapGrace(w *world) {
	n := w.node()
	n.acquire(1, "A")
	n.release(1, "A")
	time.Sleep(retention)
	for _, step := range []struct {
		grace   time.Duration
		deleted int
	}{{time.Hour, 0}, {2 * time.Minute, 0}, {0, 1}} {
		if report := n.reap(dynamolease.ReapConfig{Grace: step.grace}); report.Deleted != step.deleted {
			w.Errorf("with a grace of %v: %+v", step.grace, report)
		}
	}
}

func reapSession(w *world) {
	n := w.node()
	session, err := n.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "A", Address: "host:1"}, ttl)
	if err != nil {
		w.Fatal(err)
	}
	held, acquired, err := session.Acquire(w.Context(), w.group, 1)
	if err != nil || !acquired {
		w.Fatal(acquired, err)
	}
	time.Sleep(time.Hour + ttl + graceOfExpiry)
	if report := n.reap(dynamolease.ReapConfig{}); report.Deleted != 1 || report.Due != 1 {
		w.Errorf("%+v", report)
	}
	if lease := n.acquire(1, "B"); lease.Epoch <= held.Epoch {
		w.Errorf("epoch %d after %d", lease.Epoch, held.Epoch)
	}
}

func reapSegments(w *world) {
	n := w.node()
	for _, segments := range []int{1, 2, 7, 16} {
		for partition := range 40 {
			n.acquire(partition, "A")
			n.release(partition, "A")
		}
		time.Sleep(retention)
		if report := n.reap(dynamolease.ReapConfig{Segments: segments}); report.Deleted != 40 || report.Scanned > 41 { // with the position
			w.Errorf("with %d segments: %+v", segments, report)
		}
	}
}

func reapCost(w *world) {
	n := w.node()
	n.acquire(1, "A")
	n.reap(dynamolease.ReapConfig{}) // has looked at leases in sessions, once for the day
	n.Path.Reset()
	report := n.reap(dynamolease.ReapConfig{})
	if n.Path.Count("GetItem") != 1 || n.Path.Count("Scan") != 1 || n.Path.Count("") != 2 {
		w.Errorf("requests: %v", n.Path.Requests())
	}
	if report.ReadUnits != 0.5 || report.WriteUnits != 0 {
		w.Errorf("%+v", report)
	}
	n.release(1, "A")
	time.Sleep(retention)
	if report := n.reap(dynamolease.ReapConfig{}); report.WriteUnits != 1 || report.Deleted != 1 {
		w.Errorf("%+v", report)
	}
}

func TestReapRefusesArguments(t *testing.T) {
	n := newWorld(t).coldNode()
	for field, cfg := range map[string]dynamolease.ReapConfig{
		"ReapConfig.Grace":    {Grace: -time.Second},
		"ReapConfig.Segments": {Segments: 17},
		"ReapConfig.Limit":    {Limit: -1},
	} {
		_, err := n.Reap(t.Context(), cfg)
		var argument *dynamolease.ArgumentError
		if !errors.As(err, &argument) || argument.Argument != field {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	if n.Path.Count("") != 0 {
		t.Errorf("requests: %v", n.Path.Requests())
	}
}
