package dynamotest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// pin names one build of dynoxide exactly.
type pin struct {
	npmPackage string
	version    string
	integrity  string // of the npm package, as npm checks it
	sha256     string // of the program in it
}

// pinned returns the build for the given platform, if there is one that was tried.
func pinned(goos, goarch string) (pin, bool) {
	if goos != "linux" || goarch != "amd64" {
		return pin{}, false
	}
	return pin{
		npmPackage: "@dynoxide/linux-x64",
		version:    "1.2.1",
		integrity:  "sha512-sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg==",
		sha256:     "be909b7910d3fb552e85db10ef3c8ebae4bd35fee0f26dffdb6dfa5cc656426e",
	}, true
}

// findBinary returns the path of a dynoxide program, installing it if need be.
func findBinary(ctx context.Context) (string, error) {
	if path := os.Getenv("DYNOXIDE_BIN"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("use DYNOXIDE_BIN: %w", err)
		}
		return found, nil
	}
	if path, err := exec.LookPath("dynoxide"); err == nil {
		return path, nil
	}
	p, ok := pinned(runtime.GOOS, runtime.GOARCH)
	if !ok {
		return "", unavailable(fmt.Sprintf("no dynoxide in PATH, and it cannot be installed here on %s/%s", runtime.GOOS, runtime.GOARCH))
	}
	path := filepath.Join(cacheDir(), "dynoxide-"+p.version, "dynoxide")
	if verify(path, p.sha256) == nil {
		return path, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", unavailable("no dynoxide in PATH or in the cache, and no npm to install it")
	}
	if err := install(ctx, p, path); err != nil {
		return "", fmt.Errorf("install %s %s: %w", p.npmPackage, p.version, err)
	}
	return path, nil
}

// unavailable returns an error that says what to do.
func unavailable(why string) error {
	advice := "\n\tset DYNAMODB_ENDPOINT to the URL of a running server, for example DynamoDB Local:" +
		"\n\t\tdocker compose -f local/dynamodb-local.yml up -d, then DYNAMODB_ENDPOINT=http://localhost:8000" +
		"\n\tor put a dynoxide program (version 1.2.1) in PATH, or its path in DYNOXIDE_BIN"
	if _, ok := pinned(runtime.GOOS, runtime.GOARCH); ok {
		advice += "\n\tor install npm, and it is installed from there"
	}
	return fmt.Errorf("%w: %s; do one of these:%s", ErrUnavailable, why, advice)
}

// cacheDir is the folder for what is kept between runs.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		// No home directory, as in some containers. The user's number keeps users apart.
		return filepath.Join(os.TempDir(), fmt.Sprintf("dynamolease-%d", os.Getuid()))
	}
	return filepath.Join(dir, "dynamolease")
}

// verify fails unless the file at path has the given SHA-256.
func verify(path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return errors.New("the program is not the one expected: SHA-256 " + got)
	}
	return nil
}
