package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// errStale says that a file does not contain the text of a bug exactly once.
var errStale = errors.New("the library has changed: rewrite the bug")

// plant writes the changed files of a bug to dir. It returns the name of an overlay for go build,
// which lays them over the tree at root.
func plant(b bug, root, dir string) (overlay string, err error) {
	replace := make(map[string]string)
	for i, name := range b.files() {
		original := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(original)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errStale, err)
		}
		changed, err := b.change(name, string(text))
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(dir, fmt.Sprintf("%s.%d.go", b.name, i))
		if err := os.WriteFile(replace[original], []byte(changed), 0o600); err != nil {
			return "", fmt.Errorf("plant: %w", err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("plant: %w", err)
	}
	overlay = filepath.Join(dir, b.name+".json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", fmt.Errorf("plant: %w", err)
	}
	return overlay, nil
}

// change applies the bug's edits of one file, in order.
func (b bug) change(file, text string) (string, error) {
	for _, e := range b.edits {
		if e.file != file {
			continue
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("%w: %s must contain this text once, and contains it %d times:\n%s", errStale, file, n, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text, nil
}
