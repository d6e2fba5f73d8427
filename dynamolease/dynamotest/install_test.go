package dynamotest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// emptyCache gives the test a cache with nothing in it and a PATH with only npm, and returns the path that
// dynoxide is installed at and a function that counts the installations.
func emptyCache(t *testing.T) (program string, installs func() int) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("nothing is installed on this platform")
	}
	log := filepath.Join(t.TempDir(), "log")
	bin := t.TempDir()
	for _, name := range []string{"node", "npm"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if name == "npm" {
			wrapper := script(t, "npm", "echo npm >> '"+log+"'; exec '"+path+"' \"$@\"")
			path = wrapper
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	cache := t.TempDir()
	noServer(t)
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("PATH", bin)
	installs = func() int {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	return filepath.Join(cache, "dynamolease", "dynoxide-1.2.1", "dynoxide"), installs
}

// noServer has Start look for a server itself.
func noServer(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DYNAMODB_ENDPOINT", "DYNAMOLEASE_TEST_AWS", "DYNOXIDE_BIN"} {
		t.Setenv(name, "")
	}
}

// script writes a shell script and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func startAndClose(t *testing.T) {
	t.Helper()
	s, err := dynamotest.Start(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestInstallOnceForAll starts servers at the same time with an empty cache, then again with a full one,
// and then with one that somebody has tampered with.
func TestInstallOnceForAll(t *testing.T) {
	program, installs := emptyCache(t)
	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() { startAndClose(t) })
	}
	starts.Wait()
	if got := installs(); got != 1 {
		t.Errorf("four first starts: got %d installations, want 1", got)
	}

	startAndClose(t)
	if got := installs(); got != 1 {
		t.Errorf("start from the cache: got %d installations, want 1", got)
	}

	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	startAndClose(t)
	if got := installs(); got != 2 {
		t.Errorf("start after tampering: got %d installations, want 2", got)
	}

	left, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(program)), "install-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestInstallationFails(t *testing.T) {
	program, _ := emptyCache(t)
	t.Setenv("PATH", filepath.Dir(script(t, "npm", "echo no network; exit 1")))
	_, err := dynamotest.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(program); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a program: %v", err)
	}
}

func TestInstallationIsTheWrongProgram(t *testing.T) {
	program, _ := emptyCache(t)
	fake := script(t, "npm", `dir=node_modules/@dynoxide/linux-x64
/bin/mkdir -p $dir && echo fake > $dir/dynoxide`)
	t.Setenv("PATH", filepath.Dir(fake))
	_, err := dynamotest.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(program); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a program: %v", err)
	}
}

func TestStartGivesUpWaitingForAnInstallation(t *testing.T) {
	emptyCache(t)
	arrived := filepath.Join(t.TempDir(), "arrived")
	release := filepath.Join(t.TempDir(), "release")
	slow := script(t, "npm", "echo > '"+arrived+"'; while [ ! -e '"+release+"' ]; do /bin/sleep 0.01; done; exit 1")
	t.Setenv("PATH", filepath.Dir(slow))
	first := make(chan error, 1)
	go func() {
		_, err := dynamotest.Start(context.Background())
		first <- err
	}()
	for {
		if _, err := os.Stat(arrived); err == nil {
			break
		}
		runtime.Gosched()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := dynamotest.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err == nil {
		t.Error("the failing installation succeeded")
	}
}

// TestNothingToBeHad asserts that the error says what to do.
func TestNothingToBeHad(t *testing.T) {
	noServer(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", "")
	_, err := dynamotest.Start(t.Context())
	if !errors.Is(err, dynamotest.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	for _, advice := range []string{"DYNAMODB_ENDPOINT", "local/dynamodb-local.yml", "PATH", "DYNOXIDE_BIN"} {
		if !strings.Contains(err.Error(), advice) {
			t.Errorf("the error does not mention %s: %v", advice, err)
		}
	}
}

// TestNoHomeDirectory has the cache in the temporary directory instead.
func TestNoHomeDirectory(t *testing.T) {
	_, installs := emptyCache(t)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("TMPDIR", t.TempDir())
	startAndClose(t)
	if got := installs(); got != 1 {
		t.Errorf("got %d installations, want 1", got)
	}
}
