package examples_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The examples, which are compiled and run, contain every piece of Go in the README and in docs.
func TestSnippetsInDocuments(t *testing.T) {
	var code string
	for _, file := range append(glob(t, "*.go"), glob(t, "../infra/cdk/leasetable/example_test.go")...) {
		code += lines(read(t, file))
	}
	snippets := 0
	for _, file := range slices.Concat(glob(t, "../*.md"), glob(t, "../docs/*.md"), glob(t, "../infra/cdk/*.md")) {
		for i, block := range strings.Split(read(t, file), "```go\n")[1:] {
			snippet, _, _ := strings.Cut(block, "```")
			snippets++
			if !strings.Contains(code, lines(snippet)) {
				t.Errorf("%s: its Go snippet %d is not in any of the examples:\n%s", file, i+1, snippet)
			}
		}
	}
	if snippets == 0 {
		t.Error("there are no snippets")
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines returns the text without its indentation and empty lines.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
