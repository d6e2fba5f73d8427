package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// expect runs a command, and checks its exit code and parts of what it prints.
func (f *fixture) expect(code int, stdout, stderr string, args ...string) string {
	f.Helper()
	got, out, errs := call(f.Context(), args...)
	if got != code || !strings.Contains(out, stdout) || !strings.Contains(errs, stderr) {
		f.Errorf("%q: code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", args, got, code, stdout, out, stderr, errs)
	}
	return out
}

// document runs a command with --json, and reads the one document that it prints.
func (f *fixture) document(into any, code int, args ...string) {
	f.Helper()
	out := f.expect(code, "", "", append(args, "--json")...)
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(into); err != nil {
		f.Fatalf("%q: %v in %s", args, err, out)
	}
	if d.More() {
		f.Errorf("%q prints more than one document:\n%s", args, out)
	}
	command := args[0]
	if command == "table" {
		command += " " + args[1]
	}
	checkFields(f, command, []byte(out))
}

func TestJSON(t *testing.T) {
	f := newFixture(t).seed()
	var leases []struct {
		Partition  int
		Owner      string
		Session    string
		Epoch      int64
		Revoked    bool
		Checkpoint []byte
		Left       struct {
			AtMost int64 `json:"at_most_ms"`
		}
	}
	f.document(&leases, 0, "leases", "orders")
	if len(leases) != 6 || leases[5].Owner != "b" || leases[5].Left.AtMost <= 0 || leases[5].Epoch != f.epochs["orders/5"] || string(leases[5].Checkpoint) != "\x00\x01\x02\xfd\xfe\xff" {
		t.Errorf("leases: %+v", leases)
	}
	f.document(&leases, 3, "leases", "nothing")
	if leases == nil || len(leases) != 0 {
		t.Errorf("leases of nobody: %+v", leases)
	}
	var members []struct {
		Node, Session, Address string
		Groups                 []string
		Drained                bool
	}
	f.document(&members, 0, "members", "shop")
	if len(members) != 2 || members[0].Node != "a" || members[0].Address != "a.example:8080" || members[0].Groups[0] != "orders" {
		t.Errorf("members: %+v", members)
	}
	f.document(&members, 3, "members", "nobody")
	f.expect(0, "", "", "drain", "shop", "mistyped", "--yes")
	if out := f.expect(0, `"absent": true`, "", "members", "shop", "--json"); strings.Count(out, `"address"`) != 2 {
		t.Errorf("members: %s", out)
	}
	if out := f.expect(0, "", "", "members", "shop"); !strings.Contains(out, "mistyped") || !strings.Contains(out, "no member") {
		t.Errorf("members: %s", out)
	}
	f.expect(0, "", "", "undrain", "shop", "mistyped", "--yes")
	if out := f.expect(0, "", "", "members", "shop"); strings.Contains(out, "mistyped") {
		t.Errorf("members: %s", out)
	}
	var process struct {
		Node  string
		Owner string
		Term  int
		Seq   int
	}
	f.document(&process, 0, "process", "writer-1")
	if process.Node != "writer-1" || process.Term != 1 || process.Seq != 1 || process.Owner == "" {
		t.Errorf("process: %+v", process)
	}
	f.expect(3, "", `node "writer-2" has no process lease`, "process", "writer-2", "--json")
	var table struct {
		Table, Status, TTL string
		Keys               []string
	}
	f.document(&table, 0, "table", "describe")
	if table.Table != f.table || table.Status != "ACTIVE" || len(table.Keys) != 2 || table.TTL != "ENABLED" {
		t.Errorf("table: %+v", table)
	}
	var done struct{ Table, Result string }
	f.document(&done, 0, "table", "check")
	f.document(&done, 0, "table", "create")
	if done.Result != "ready" {
		t.Errorf("created: %+v", done)
	}
	var standing struct {
		Member, Drained bool
		Holds           []struct{ Partitions int }
	}
	f.document(&standing, 0, "drain", "shop", "a", "--yes")
	if !standing.Member || !standing.Drained || len(standing.Holds) != 1 || standing.Holds[0].Partitions != 3 {
		t.Errorf("drained: %+v", standing)
	}
	f.document(&standing, 5, "drain", "shop", "a", "--yes", "--wait", "1500ms")
	f.document(&standing, 0, "undrain", "shop", "a", "--yes")
	if standing.Drained {
		t.Errorf("undrained: %+v", standing)
	}
	var released struct {
		Done  bool
		From  string
		Epoch int64
	}
	f.document(&released, 5, "release", "orders", "4", "--yes", "--wait", "1500ms")
	if released.Done || released.From != "b" || released.Epoch != f.epochs["orders/4"] {
		t.Errorf("released: %+v", released)
	}
	f.document(&leases, 0, "leases", "orders")
	if leases[3].Revoked || !leases[4].Revoked {
		t.Errorf("leases: %+v", leases)
	}
	var reaped struct{ Scanned, Due, Deleted int }
	f.document(&reaped, 0, "reap", "--yes")
	if reaped.Deleted != 5 || reaped.Due != 5 {
		t.Errorf("reaped: %+v", reaped)
	}
}

func TestErrors(t *testing.T) {
	f := newFixture(t).seed()
	for _, command := range [][]string{{"leases", "orders"}, {"members", "shop"}, {"process", "writer-1"}, {"table", "check"}, {"table", "describe"},
		{"watch", "shop"}, {"release", "orders", "1"}, {"drain", "shop", "a"}, {"undrain", "shop", "a"}, {"reap", "--yes"}} {
		f.expect(3, "", `table "missing" does not exist`, append(command, "--table", "missing")...)
	}
	f.expect(2, "", `PARTITION "x" is not a number`, "release", "orders", "x")
	f.expect(2, "", "--wait must not be negative", "release", "orders", "1", "--wait", "-1s")
	f.expect(2, "", "--segments must be between 1 and 16", "reap", "--yes", "--segments", "99")
	f.expect(2, "", "GROUP must", "leases", "")
	f.expect(2, "", "NODE must", "drain", "shop", "a#b", "--yes")
	f.expect(3, "", "nobody holds payments/7", "release", "payments", "7", "--yes")
	f.expect(0, "stopped early (limit): run it again with the same --segments", "", "reap", "--yes", "--limit", "1")

	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>It works!</html>"))
	}))
	defer page.Close()
	f.expect(1, "", "check --endpoint-url", "table", "describe", "--endpoint-url", page.URL)
	noTLS := strings.Replace(page.URL, "http:", "https:", 1)
	f.expect(1, "", "reach "+noTLS+": tls: first record does not look like a TLS handshake\nthe endpoint does not speak TLS: its URL has to begin with http:// (--endpoint-url, ",
		"members", "shop", "--endpoint-url", noTLS)
}

func TestNoCredentials(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
	} {
		t.Setenv(name, value)
	}
	code, _, errs := call(t.Context(), "leases", "orders", "--table", "t", "--region", "eu-west-1")
	if code != 1 || !strings.Contains(errs, "there are no AWS credentials: log in, choose a --profile") {
		t.Errorf("code %d, %s", code, errs)
	}
	code, _, errs = call(t.Context(), "leases", "orders", "--table", "t", "--profile", "nobody")
	if code != 1 || !strings.Contains(errs, "read the AWS configuration") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// An order with an unknown outcome has an exit code of its own.
func TestUnknownOutcome(t *testing.T) {
	if testing.Short() {
		t.Skip("tries for ten seconds")
	}
	f := newFixture(t).seed()
	url, transport := faultyEndpoint(t)
	transport.Every("UpdateItem", dynamotest.LoseRequest())
	f.expect(5, "", "outcome unknown", "drain", "shop", "a", "--yes", "--endpoint-url", url)
}
