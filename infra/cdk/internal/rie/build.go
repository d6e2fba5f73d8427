package rie

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	library = "github.com/dynamolease/dynamolease"
	reaper  = library + "/lambda/reaper"
)

// built builds the reaper's executable, once for all tests of a package.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dynamolease-reaper-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "bootstrap")
	root, err := output("", "go", "list", "-m", "-f", "{{.Dir}}", library)
	if err == nil {
		_, err = output(root, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, reaper)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return path, nil
})

// Build returns the path of the reaper's bootstrap for this machine. The first call in a test
// process builds it, and [Clean] removes it.
func Build(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("build bootstrap: %v", err)
	}
	return path
}

// Clean removes the executable that Build built. If a package calls Build, call Clean at the end of
// its TestMain.
func Clean() error {
	path, err := built()
	if err != nil {
		return nil // the tests have reported it
	}
	return os.RemoveAll(filepath.Dir(path))
}

// emulator returns the path of the emulator. It is a tool of this module, so the go command builds
// and caches it.
var emulator = sync.OnceValues(func() (string, error) { return output("", "go", "tool", "-n", "aws-lambda-rie") })

// output runs a program and returns what it prints.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, problem.String())
	}
	return strings.TrimSpace(string(out)), nil
}
