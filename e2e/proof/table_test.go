package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"history.json": `{"histories": 7, "operations": 200, "faulted": 50, "faults": {"lost request": 20, "delayed": 30}, "violations": 1, "seed": 5}`,
		"fleet.json":   `{"runs": 3, "node_hours": 12.4, "events": {"crash": 4}, "requests": 99, "violations": 2, "seed": 6}`,
		"chaos.json":   `{"kills": 11, "pauses": 12, "database_kills": 2, "records": 1000, "violations": 4}`,
		"planted.json": `{"bugs": 30, "caught": 29, "caught_by_short": 21}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := printTable(&out, dir, 90*time.Second, []string{"fleet", "chaos"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"200, of which 50 (25 %) met a fault", "30 delayed, 20 lost request", "12\n", "11 and 12", "30, of which the suites caught 29, the short run 21",
		"violations                7", "1m30s", "fleet, chaos",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, out.String())
		}
	}
}

func TestTableWithoutFigures(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, t.TempDir(), time.Second, nil); err != nil || !strings.Contains(out.String(), "did not try") {
		t.Errorf("%v\n%s", err, out.String())
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fleet.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := printTable(io.Discard, dir, time.Second, nil); err == nil {
		t.Error("printTable accepts figures that it cannot read")
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-wrong"}, {"more"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("run accepts the arguments %v", args)
		}
	}
}
