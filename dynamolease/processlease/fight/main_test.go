package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the main of the processes that fight.
func TestMain(m *testing.M) {
	if os.Getenv(fighterEnv) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestFight(t *testing.T) {
	for kind, words := range map[string][]string{
		"kill": {"first: is writer-1 in term 1", "kills the first", "second: is writer-1 in term 2", "verified true", `"successor"`},
		"stop": {"stops the first", "second: is writer-1 in term 2", "first: is not writer-1 any more", "changed nothing: term 2 stands"},
	} {
		t.Run(kind, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), []string{"-kind", kind, "-ttl", "500ms"}, &out)
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			rest := out.String()
			for _, word := range words {
				_, after, found := strings.Cut(rest, word)
				if !found {
					t.Fatalf("no %q, in this order, in\n%s", word, &out)
				}
				rest = after
			}
		})
	}
	t.Run("flags", func(t *testing.T) {
		if err := run(t.Context(), []string{"-kind", "talk"}, new(bytes.Buffer)); err == nil {
			t.Error("no error")
		}
	})
}
