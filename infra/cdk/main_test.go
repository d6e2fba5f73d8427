package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/stub"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/template"
)

func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// The app finds the program of the reaper in the folder into which "make lambda" writes it.
func TestSynth(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	props := &awscdk.AppProps{Outdir: jsii.String(filepath.Join(root, "out"))}
	if err := synth(props); err == nil || !strings.Contains(err.Error(), "make lambda") {
		t.Fatalf("without the reaper's program: %v; want it to name make lambda", err)
	}
	if err := stub.Program(filepath.Join(root, "dist", "lambda", "reaper"), elf.EM_AARCH64); err != nil {
		t.Fatal(err)
	}
	if err := synth(props); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "out", "Dynamolease.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	stack, err := template.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"AWS::DynamoDB::GlobalTable", "AWS::Lambda::Function", "AWS::Scheduler::Schedule"} {
		if _, _, err := stack.Only(kind); err != nil {
			t.Error(err)
		}
	}
}
