package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// LS29: invalid arguments are refused by name, before any request.
func TestArgumentsLS29(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	ctx := context.Background()
	long := strings.Repeat("x", 256)
	names := map[string]string{"empty": "", "too long": long, "no UTF-8": "a\xffb"}
	ttls := map[string]time.Duration{"zero": 0, "negative": -time.Second, "too short": time.Second - 1, "overflowing": math.MaxInt64}
	partitions := map[string]int{"negative": -1, "too large": 10_000_000_000}

	type call struct {
		argument string
		err      error
	}
	var calls []call
	add := func(argument string, err error) { calls = append(calls, call{argument, err}) }
	for _, bad := range names {
		_, _, err := n.Acquire(ctx, bad, 1, "a", ttl)
		add("group", err)
		_, _, err = n.Acquire(ctx, "g", 1, bad, ttl)
		add("owner", err)
		_, err = n.Renew(ctx, bad, []int{1}, "a", ttl)
		add("group", err)
		_, err = n.Renew(ctx, "g", []int{1}, bad, ttl)
		add("owner", err)
		_, err = n.Release(ctx, bad, 1, "a")
		add("group", err)
		_, err = n.Release(ctx, "g", 1, bad)
		add("owner", err)
		_, err = n.Owners(ctx, bad)
		add("group", err)
		_, err = n.Leases(ctx, bad)
		add("group", err)
		_, err = n.Lease(ctx, bad, 1)
		add("group", err)
		add("group", n.Forget(ctx, bad, 1))
		_, err = n.Heartbeat(ctx, dynamolease.Node{Service: bad, Name: "n", Address: "here"}, ttl)
		add("Node.Service", err)
		_, err = n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: bad, Address: "here"}, ttl)
		add("Node.Name", err)
		_, err = n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n", Address: bad}, ttl)
		add("Node.Address", err)
		_, err = n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here", Groups: []string{"fine", bad}}, ttl)
		add("Node.Groups[1]", err)
		_, err = n.OpenSession(ctx, dynamolease.Node{Service: bad, Name: "n", Address: "here"}, ttl)
		add("Node.Service", err)
		_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: bad, Address: "here"}, ttl)
		add("Node.Name", err)
		_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n", Address: bad}, ttl)
		add("Node.Address", err)
		_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here", Groups: []string{"fine", bad}}, ttl)
		add("Node.Groups[1]", err)
		_, err = n.Members(ctx, bad)
		add("service", err)
		add("service", n.Leave(ctx, bad, "n"))
		add("node", n.Leave(ctx, "s", bad))
	}
	for _, bad := range partitions {
		_, _, err := n.Acquire(ctx, "g", bad, "a", ttl)
		add("partition", err)
		_, err = n.Renew(ctx, "g", []int{1, bad}, "a", ttl)
		add("partitions", err)
		_, err = n.Release(ctx, "g", bad, "a")
		add("partition", err)
		_, err = n.Lease(ctx, "g", bad)
		add("partition", err)
		add("partition", n.Forget(ctx, "g", bad))
	}
	for _, bad := range ttls {
		_, _, err := n.Acquire(ctx, "g", 1, "a", bad)
		add("ttl", err)
		_, err = n.Renew(ctx, "g", []int{1}, "a", bad)
		add("ttl", err)
		_, err = n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here"}, bad)
		add("ttl", err)
		_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here"}, bad)
		add("ttl", err)
	}
	_, err := n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n#1", Address: "here"}, ttl)
	add("Node.Name", err)
	_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n#1", Address: "here"}, ttl)
	add("Node.Name", err)
	add("node", n.Leave(ctx, "s", "n#1"))
	var tooMany []string
	for i := range 101 {
		tooMany = append(tooMany, fmt.Sprint("g", i))
	}
	_, err = n.Heartbeat(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here", Groups: tooMany}, ttl)
	add("Node.Groups", err)
	_, err = n.OpenSession(ctx, dynamolease.Node{Service: "s", Name: "n", Address: "here", Groups: tooMany}, ttl)
	add("Node.Groups", err)

	for _, c := range calls {
		var argument *dynamolease.ArgumentError
		if !errors.As(c.err, &argument) || argument.Argument != c.argument {
			t.Errorf("got %v, want an ArgumentError for %q", c.err, c.argument)
		}
	}
	if got := n.Path.Count(""); got != 0 {
		t.Errorf("%d requests, want none", got)
	}
}

func TestOptionsAreRefusedByName(t *testing.T) {
	w := newWorld(t)
	client := w.Server.Client()
	for field, set := range map[string]option{
		"Options.RequestTimeout":      func(o *dynamolease.Options) { o.RequestTimeout = time.Millisecond },
		"Options.Retention":           func(o *dynamolease.Options) { o.Retention = time.Minute },
		"Options.CheckpointRetention": func(o *dynamolease.Options) { o.CheckpointRetention = 23 * time.Hour },
		"Options.Renewal":             func(o *dynamolease.Options) { o.Renewal = 7 },
		"Options.Clock.Slack":         func(o *dynamolease.Options) { o.Clock.Slack = -1 },
		"Options.Clock.Margin":        func(o *dynamolease.Options) { o.Clock.Margin = -1 },
		"Options.Clock.DriftPPM":      func(o *dynamolease.Options) { o.Clock.DriftPPM = -1 },
		"NodeClock.maxSkew":           func(o *dynamolease.Options) { o.Clock = dynamolease.NodeClock(0) },
	} {
		_, err := dynamolease.New(client, "leases", set)
		var argument *dynamolease.ArgumentError
		if !errors.As(err, &argument) || argument.Argument != field {
			t.Errorf("got %v, want an ArgumentError for %s", err, field)
		}
	}
	var argument *dynamolease.ArgumentError
	if _, err := dynamolease.New(client, ""); !errors.As(err, &argument) || argument.Argument != "table" {
		t.Errorf("got %v, want an ArgumentError for table", err)
	}
	for _, client := range []dynamolease.Client{nil, (*dynamodb.Client)(nil)} {
		if _, err := dynamolease.New(client, "leases"); !errors.As(err, &argument) || argument.Argument != "client" {
			t.Errorf("got %v, want an ArgumentError for client", err)
		}
	}
}

// LS30: a malformed row is an error that names it, on every path that reads it.
func TestMalformedRowsLS30(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		good := func() map[string]attributeValue {
			return map[string]attributeValue{"owner": text("a"), "epoch": number("5"), "exp": number("99999999999999"), "rev": text("r")}
		}
		malformed := map[string]func(map[string]attributeValue){
			"epoch missing":      func(r map[string]attributeValue) { delete(r, "epoch") },
			"epoch negative":     func(r map[string]attributeValue) { r["epoch"] = number("-1") },
			"epoch zero":         func(r map[string]attributeValue) { r["epoch"] = number("0") },
			"epoch fraction":     func(r map[string]attributeValue) { r["epoch"] = number("1.5") },
			"epoch too large":    func(r map[string]attributeValue) { r["epoch"] = number("9223372036854775808") },
			"epoch of text":      func(r map[string]attributeValue) { r["epoch"] = text("5") },
			"epoch at its limit": func(r map[string]attributeValue) { r["epoch"] = number("9223372036854775807"); r["exp"] = number("1") },
			"owner of number":    func(r map[string]attributeValue) { r["owner"] = number("5") },
			"owner empty":        func(r map[string]attributeValue) { r["owner"] = text("") },
			"exp missing":        func(r map[string]attributeValue) { delete(r, "exp") },
			"exp of text":        func(r map[string]attributeValue) { r["exp"] = text("soon") },
			"rev missing":        func(r map[string]attributeValue) { delete(r, "rev") },
			"rev of number":      func(r map[string]attributeValue) { r["rev"] = number("1") },
			"lasts of text":      func(r map[string]attributeValue) { r["lasts"] = text("10") },
			"ttl of text":        func(r map[string]attributeValue) { r["ttl"] = text("1") },
		}
		partition := 0
		for name, spoil := range malformed {
			partition++
			row := good()
			spoil(row)
			for k, v := range w.leaseKey(partition) {
				row[k] = v
			}
			w.Put(row)
			n := w.node()
			_, acquired, err := n.Acquire(w.Context(), w.group, partition, "b", ttl)
			wantRowError(w, name, partition, err)
			if acquired {
				w.Errorf("%s: acquired", name)
			}
			if name == "epoch at its limit" {
				continue // well-formed, until it has to grow
			}
			_, err = n.Release(w.Context(), w.group, partition, "a")
			wantRowError(w, name, partition, err)
			_, err = n.Renew(w.Context(), w.group, []int{partition}, "a", ttl)
			wantRowError(w, name, partition, err)
			_, err = n.Owners(w.Context(), w.group)
			var malformed *dynamolease.RowError
			if !errors.As(err, &malformed) {
				w.Errorf("%s: owners: %v", name, err)
			}
			w.deleteRow(partition)
		}
	})
}

func wantRowError(w *world, name string, partition int, err error) {
	w.Helper()
	var malformed *dynamolease.RowError
	if !errors.As(err, &malformed) || malformed.SK != fmt.Sprintf("P#%010d", partition) || malformed.PK != "L#"+w.group {
		w.Errorf("%s: got %v, want a RowError for partition %d", name, err, partition)
	}
}

func TestMalformedMembersLS30(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		for name, spoil := range map[string]func(map[string]attributeValue){
			"address missing": func(r map[string]attributeValue) { delete(r, "address") },
			"node of another": func(r map[string]attributeValue) { r["node"] = text("n2") },
			"exp missing":     func(r map[string]attributeValue) { delete(r, "exp") },
			"groups of text":  func(r map[string]attributeValue) { r["groups"] = text("orders") },
			"rev missing":     func(r map[string]attributeValue) { delete(r, "rev") },
		} {
			row := key("M#"+w.service, "N#n1")
			row["node"], row["address"], row["exp"], row["rev"] = text("n1"), text("here"), number("99999999999999"), text("r")
			spoil(row)
			w.Put(row)
			n := w.node()
			var malformed *dynamolease.RowError
			if _, err := n.Members(w.Context(), w.service); !errors.As(err, &malformed) || malformed.SK != "N#n1" {
				w.Errorf("%s: members: %v", name, err)
			}
			if _, err := n.Heartbeat(w.Context(), dynamolease.Node{Service: w.service, Name: "n1", Address: "here"}, ttl); !errors.As(err, &malformed) {
				w.Errorf("%s: heartbeat: %v", name, err)
			}
			w.Delete(key("M#"+w.service, "N#n1"))
		}
	})
	inVirtualTime(t, func(w *world) {
		for name, spoil := range map[string]func(map[string]attributeValue){
			"opened missing":     func(r map[string]attributeValue) { delete(r, "opened") },
			"opened of text":     func(r map[string]attributeValue) { r["opened"] = text("today") },
			"session of another": func(r map[string]attributeValue) { r["session"] = text("n2#x") },
			"session of number":  func(r map[string]attributeValue) { r["session"] = number("1") },
			"left of text":       func(r map[string]attributeValue) { r["left"] = text("today") },
			"first of another":   func(r map[string]attributeValue) { r["first"], r["joined"] = text("n2#x"), number("1") },
			"first of number":    func(r map[string]attributeValue) { r["first"], r["joined"] = number("1"), number("1") },
			"joined missing":     func(r map[string]attributeValue) { r["first"] = text("n1#w") },
			"joined of text":     func(r map[string]attributeValue) { r["first"], r["joined"] = text("n1#w"), text("today") },
			"exp missing":        func(r map[string]attributeValue) { delete(r, "exp") },
		} {
			row := key("M#"+w.service, "N#n1#x")
			row["node"], row["session"], row["opened"], row["address"] = text("n1"), text("n1#x"), number("1000"), text("here")
			row["exp"], row["rev"] = number("99999999999999"), text("r")
			spoil(row)
			w.Put(row)
			lease := w.leaseKey(1)
			lease["owner"], lease["epoch"], lease["rev"] = text("n1"), number("5"), text("r")
			lease["service"], lease["session"] = text(w.service), text("n1#x")
			w.Put(lease)
			n := w.node()
			var malformed *dynamolease.RowError
			if _, err := n.Members(w.Context(), w.service); !errors.As(err, &malformed) || malformed.SK != "N#n1#x" {
				w.Errorf("%s: members: %v", name, err)
			}
			if got, acquired, err := n.Acquire(w.Context(), w.group, 1, "b", ttl); acquired || !errors.As(err, &malformed) || malformed.SK != "N#n1#x" {
				w.Errorf("%s: acquire from it: %+v, %v, %v", name, got, acquired, err)
			}
		}
	})
}
