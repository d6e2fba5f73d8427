package operate

import (
	"fmt"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	if got := nearest("wroker-1", []string{"db", "worker-10", "worker-1", "wörker-1"}); got != "worker-1, wörker-1, worker-10, db" {
		t.Error(got)
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("node-%02d", i))
	}
	if got := nearest("node-2", many); !strings.HasPrefix(got, "node-02, ") || !strings.HasSuffix(got, " and 20 more") || strings.Count(got, "node-") != 10 {
		t.Error(got)
	}
	if got := nearest("x", []string{"a\x1b[2J"}); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// A command that is shown can be copied into a shell.
func TestWord(t *testing.T) {
	for name, want := range map[string]string{
		"worker-1": "worker-1", "ip-10.0.0.7:80": "ip-10.0.0.7:80", "a b": "'a b'", "it's": `'it'\''s'`, "$(reboot)": "'$(reboot)'", "": "''", "ä": "'ä'",
	} {
		if got := word(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
