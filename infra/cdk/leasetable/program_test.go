package leasetable_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/stub"
	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

func TestProgramIsFoundAboveTheWorkingDirectory(t *testing.T) {
	root := t.TempDir()
	if err := stub.Program(filepath.Join(root, "dist", "lambda", "reaper"), elf.EM_AARCH64); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(root, "infra", "cdk")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if _, err := leasetable.New(newLab(t, "").stack, "Leases", nil); err != nil {
		t.Error(err)
	}
}

func TestProgramThatLambdaCouldNotStart(t *testing.T) {
	script := t.TempDir()
	if err := os.WriteFile(filepath.Join(script, "bootstrap"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, says string }{
		"missing":            {t.TempDir(), "no such file"},
		"another processor":  {program(t, elf.EM_X86_64), "runs on arm64"},
		"no Linux program":   {script, "not a Linux program"},
		"folder not there":   {filepath.Join(script, "nowhere"), "no such file"},
		"path is not a path": {"\x00", "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			err := newLab(t, "").try(func(p *leasetable.Props) { p.Reaper.AssetDir = c.dir })
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), `run "make lambda"`) {
				t.Errorf("%v; want %q, and make lambda", err, c.says)
			}
		})
	}
}
