package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// errStale is returned when the text that a bug replaces is not in its file exactly once.
var errStale = errors.New("the library has changed: write the bug anew")

// plant lays the bug over the tree at root, in files in dir, and returns the name of the overlay for go build.
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

// change makes the bug's edits of one file, in order.
func (b bug) change(file, text string) (string, error) {
	for _, e := range b.edits {
		if e.file != file {
			continue
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("%w: this is %d times in %s:\n%s", errStale, n, file, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text, nil
}
