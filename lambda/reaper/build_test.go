package main

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The same source gives the same bootstrap, in whatever folder it lies: a deployment changes the function only when its
// code has changed.
func TestBuildIsReproducible(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not in PATH: install it to test the recipe of make lambda")
	}
	root := run(t, ".", "go", "list", "-f", "{{.Module.Dir}}", ".")
	var sums [2][sha256.Size]byte
	for i, name := range []string{"a", "a folder with another name"} {
		dir := filepath.Join(t.TempDir(), name)
		copySource(t, root, dir)
		run(t, dir, "make", "-s", "lambda", "LAMBDA_ARCH="+runtime.GOARCH)
		bootstrap, err := os.ReadFile(filepath.Join(dir, "dist/lambda/reaper/bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(bootstrap)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of the same source differ: %x, %x", sums[0], sums[1])
	}
}

// copySource copies what the function is built from.
func copySource(t *testing.T, root, dir string) {
	t.Helper()
	copyFile(t, root, dir, "Makefile", "go.mod", "go.sum")
	const own = `{{if .Module}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}`
	for _, folder := range strings.Split(run(t, ".", "go", "list", "-deps", "-f", own, "."), "\n") {
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if relative, err := filepath.Rel(root, filepath.Join(folder, file.Name())); err != nil {
				t.Fatal(err)
			} else if file.Type().IsRegular() && !strings.HasSuffix(relative, "_test.go") {
				copyFile(t, root, dir, relative)
			}
		}
	}
}

func copyFile(t *testing.T, root, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a program in a folder and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}
