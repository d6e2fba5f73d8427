package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The operators' binary contains neither the tools nor what tests use.
func TestCommandImportsNoTools(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) == 0 {
		t.Fatal("no packages listed")
	}
	for _, name := range packages {
		inner, ours := strings.CutPrefix(name, "github.com/dynamolease/dynamolease/")
		for _, part := range []string{"tools", "bench", "demo", "dynamotest", "testkit", "fields", "e2e"} {
			if ours && strings.Contains("/"+inner+"/", "/"+part+"/") {
				t.Errorf("the command imports %s", name)
			}
		}
	}
}
