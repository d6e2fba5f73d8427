package dynamotest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const lockPeriod = 10 * time.Millisecond

// install puts the program of p at path. Processes that do so at the same time share one installation.
func install(ctx context.Context, p pin, path string) error {
	cache := filepath.Dir(filepath.Dir(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make cache directory: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(cache, "install.lock"))
	if err != nil {
		return fmt.Errorf("lock the cache: %w", err)
	}
	defer unlock()
	if verify(path, p.sha256) == nil {
		return nil // someone else was faster
	}
	dir, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeProject(dir, p); err != nil {
		return err
	}
	if err := runNPM(ctx, dir); err != nil {
		return err
	}
	program := filepath.Join(dir, "node_modules", filepath.FromSlash(p.npmPackage), "dynoxide")
	if err := verify(program, p.sha256); err != nil {
		return fmt.Errorf("verify the program: %w", err)
	}
	if err := os.Chmod(program, 0o700); err != nil {
		return fmt.Errorf("make the program executable: %w", err)
	}
	// The rename replaces whatever is there in one step, also for those who are about to run it.
	if err := os.Rename(program, path); err != nil {
		return fmt.Errorf("move the program into place: %w", err)
	}
	return nil
}

// writeProject writes an npm project that depends on exactly p. The lock file names no address to download
// from, so that npm takes whichever registry the user has configured; the integrity tells
// whether it got the right thing.
func writeProject(dir string, p pin) error {
	dependencies := map[string]string{p.npmPackage: p.version}
	type entry map[string]any
	files := map[string]any{
		"package.json": entry{"name": "dynamotest", "private": true, "dependencies": dependencies},
		"package-lock.json": entry{
			"name":            "dynamotest",
			"lockfileVersion": 3,
			"requires":        true,
			"packages": entry{
				"":                             entry{"name": "dynamotest", "dependencies": dependencies},
				"node_modules/" + p.npmPackage: entry{"version": p.version, "integrity": p.integrity},
			},
		},
	}
	for name, content := range files {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func runNPM(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // when ctx ends, for helpers of npm that keep its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run npm ci: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
