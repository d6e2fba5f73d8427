package dynamolease_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// everything is an access that uses all there is.
var everything = dynamolease.Access{
	Groups: []string{"g", "h"}, Services: []string{"s"}, Takeovers: []string{"s", "t"}, Nodes: []string{"n"},
	Renew: true, Transactions: true, LeaseChecks: true, Reap: true,
}

// proved lists what a check of everything needs, and the kinds of requests that show it, each with the row's partition key.
var proved = map[string]string{
	"Query rows of M#s": "Query M#s", "UpdateItem rows of M#s": "UpdateItem M#s", "GetItem rows of M#s": "GetItem M#s",
	"Query rows of M#t": "Query M#t", "UpdateItem rows of M#t": "UpdateItem M#t", "GetItem rows of M#t": "GetItem M#t",
	"Query rows of L#g": "Query L#g", "UpdateItem rows of L#g": "UpdateItem L#g", "GetItem rows of L#g": "GetItem L#g",
	"Query rows of L#h": "Query L#h", "UpdateItem rows of L#h": "UpdateItem L#h", "GetItem rows of L#h": "GetItem L#h",
	"ConditionCheckItem rows of L#g": "TransactWriteItems ConditionCheck L#g", "ConditionCheckItem rows of L#h": "TransactWriteItems ConditionCheck L#h",
	"UpdateItem in a TransactWriteItems rows of L#g": "TransactWriteItems Update L#g",
	"UpdateItem rows of P#n":                         "UpdateItem P#n", "GetItem rows of P#n": "GetItem P#n",
	"UpdateItem in a TransactWriteItems rows of P#n": "TransactWriteItems Update P#n",
	"Scan":                   "Scan",
	"DeleteItem rows of L#-": "DeleteItem L#-", "DeleteItem rows of M#-": "DeleteItem M#-", "DeleteItem rows of P#-": "DeleteItem P#-",
	"GetItem rows of M#-": "GetItem M#-", "UpdateItem rows of L#-": "UpdateItem L#-",
	"GetItem rows of R#reaper": "GetItem R#reaper", "UpdateItem rows of R#reaper": "UpdateItem R#reaper",
}

// denying refuses the requests of one kind, as IAM does.
func denying(request string) dynamotest.Fault {
	operation, rest, _ := strings.Cut(request, " ")
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		kind, key, isPart := strings.Cut(rest, " ")
		if !isPart {
			kind, key = "", rest
		}
		if strings.HasSuffix(req.Header.Get("X-Amz-Target"), "."+operation) && (key == "" || bytes.Contains(body, []byte(`"`+key+`"`))) &&
			(!isPart || bytes.Contains(body, []byte(`"`+kind+`":`))) {
			return dynamotest.AccessDenied()(req, send)
		}
		return send(req)
	}
}

// problems lists what an error says is missing, in order.
func problems(err error) (list []string) {
	var join interface{ Unwrap() []error }
	var setup *dynamolease.SetupError
	switch {
	case errors.As(err, &join):
		for _, one := range join.Unwrap() {
			list = append(list, problems(one)...)
		}
	case errors.As(err, &setup):
		text, _ := strings.CutPrefix(setup.Problem, "these credentials may not ")
		text, _, _ = strings.Cut(text, ", which the program needs ")
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// A check finds each single permission that is missing, and says which it is and what it is for.
func TestCheckAccessLS31(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	if err := n.CheckAccess(t.Context(), everything); err != nil {
		t.Fatal(err)
	}
	if got := n.Path.Count(""); got != len(proved) {
		t.Errorf("%d requests, want %d: %v", got, len(proved), n.Path.Requests())
	}
	for missing, request := range proved {
		heal := n.Path.Every("", denying(request))
		err := n.CheckAccess(t.Context(), everything)
		heal()
		if got := problems(err); !slices.Equal(got, []string{missing}) {
			t.Errorf("without %s: %q", missing, got)
		}
		action, _, _ := strings.Cut(missing, " ")
		if text := fmt.Sprint(err); !strings.Contains(text, "grant dynamodb:"+action) || !strings.Contains(text, "needs to ") && !strings.Contains(text, "needs for ") {
			t.Errorf("without %s: %s", missing, text)
		}
	}
	n.Path.Every("", dynamotest.AccessDenied())
	if got, want := problems(n.CheckAccess(t.Context(), everything)), slices.Sorted(maps.Keys(proved)); !slices.Equal(got, want) {
		t.Errorf("without any: %q, want %q", got, want)
	}
}

// A check asks for what a purpose needs, and for nothing else.
func TestCheckAccessLS31Purposes(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		access  dynamolease.Access
		renewal dynamolease.Renewal
		want    string
	}{
		"nothing":                   {},
		"a node":                    {access: dynamolease.Access{Services: []string{"s"}}, want: "Query UpdateItem"},
		"a node, twice":             {access: dynamolease.Access{Services: []string{"s", "s"}}, want: "Query UpdateItem"},
		"leases":                    {access: dynamolease.Access{Groups: []string{"g"}}, want: "GetItem Query UpdateItem"},
		"leases, renewed":           {access: dynamolease.Access{Groups: []string{"g"}, Renew: true}, want: "GetItem Query TransactWriteItems UpdateItem"},
		"leases, renewed each":      {access: dynamolease.Access{Groups: []string{"g"}, Renew: true}, renewal: dynamolease.EachItem, want: "GetItem Query UpdateItem"},
		"leases in transactions":    {access: dynamolease.Access{Groups: []string{"g"}, Transactions: true, Renew: true}, want: "GetItem Query TransactWriteItems UpdateItem"},
		"a coordinator":             {access: dynamolease.Access{Groups: []string{"g"}, Services: []string{"s"}, Takeovers: []string{"s"}}, want: "GetItem GetItem Query Query UpdateItem UpdateItem"},
		"takeovers from a service":  {access: dynamolease.Access{Takeovers: []string{"s"}}, want: "GetItem Query UpdateItem"},
		"a process lease":           {access: dynamolease.Access{Nodes: []string{"n"}}, want: "GetItem TransactWriteItems UpdateItem"},
		"transactions, of no group": {access: dynamolease.Access{Transactions: true, LeaseChecks: true, Renew: true}},
		"a reaper":                  {access: dynamolease.Access{Reap: true}, want: "DeleteItem DeleteItem DeleteItem GetItem GetItem Scan UpdateItem UpdateItem"},
	} {
		n := w.node(func(o *dynamolease.Options) { o.Renewal = c.renewal })
		if err := n.CheckAccess(t.Context(), c.access); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var requests []string
		for _, r := range n.Path.Requests() {
			requests = append(requests, r.Op)
		}
		slices.Sort(requests)
		if got := strings.Join(requests, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A check changes nothing, in a table with rows of all kinds as in an empty one, and whatever becomes of its answers.
func TestCheckAccessLS31ChangesNothing(t *testing.T) {
	w := newWorld(t)
	n := w.node()
	rows := func() string {
		out, err := w.Direct().Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.Table})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, item := range out.Items {
			var row []string
			for _, name := range slices.Sorted(maps.Keys(item)) {
				row = append(row, fmt.Sprintf("%s=%v", name, item[name]))
			}
			list = append(list, strings.Join(row, " "))
		}
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	for range 2 {
		for name, fault := range map[string]dynamotest.Fault{"none": nil, "lost": dynamotest.LoseResponse(), "twice": dynamotest.Twice(), "throttled": dynamotest.Throttle()} {
			before := len(rows())
			for _, operation := range []string{"UpdateItem", "DeleteItem", "TransactWriteItems", "GetItem"} {
				if fault != nil {
					n.Path.Next(operation, fault)
				}
			}
			if err := n.CheckAccess(t.Context(), everything); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if after := len(rows()); after != before {
				t.Errorf("%s: %s", name, rows())
			}
		}
		n.acquire(1, "a")
		n.heartbeat("a", "here", w.group)
		n.open("b", ttl)
		n.drain("c", true)
	}
}

// What a check cannot find out is an error, and no missing permission; what it knows comes along.
func TestCheckAccessLS31Fails(t *testing.T) {
	missing, err := dynamolease.New(newWorld(t).Server.Client(), "no-such-table")
	if err != nil {
		t.Fatal(err)
	}
	wantSetupError(t, "CheckAccess", missing.CheckAccess(t.Context(), everything), "no-such-table", "does not exist", "CreateTable")
	for field, access := range map[string]dynamolease.Access{
		"Access.Groups[1]": {Groups: []string{"g", ""}}, "Access.Services[0]": {Services: []string{""}}, "Access.Takeovers[0]": {Takeovers: []string{"\xff"}},
		"Access.Nodes[0]": {Nodes: []string{strings.Repeat("n", 256)}},
	} {
		var argument *dynamolease.ArgumentError
		if err := missing.CheckAccess(t.Context(), access); !errors.As(err, &argument) || argument.Argument != field {
			t.Errorf("%+v: %v", access, err)
		}
	}
	inVirtualTime(t, func(w *world) {
		n := w.node()
		n.Path.Every("Query", dynamotest.Hang())
		n.Path.Every("GetItem", dynamotest.AccessDenied())
		err := n.CheckAccess(w.Context(), dynamolease.Access{Groups: []string{"g"}})
		if got := problems(err); len(got) == 0 || got[0] != "GetItem rows of L#g" || !strings.Contains(err.Error(), "Query rows of L#g: ") {
			w.Errorf("%q: %v", got, err)
		}
	})
	inVirtualTime(t, func(w *world) { // as on a multi-Region strongly consistent table
		n := w.node()
		n.Path.Every("TransactWriteItems", dynamotest.Reply(400, "ValidationException", "Transactions are not supported"))
		err := n.CheckAccess(w.Context(), dynamolease.Access{Groups: []string{"g"}, Renew: true})
		if err == nil || !strings.Contains(err.Error(), "not supported") || len(problems(err)) > 0 {
			w.Errorf("%v", err)
		}
	})
}
