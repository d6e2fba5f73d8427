package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

var texts = map[string]int{
	"":                                0,
	"\n\t \r\n":                       0,
	"one":                             1,
	" package  main\n\nfunc main(){}": 4,
	"no\u00a0break\u2003em\u0085next": 4,
	"zero\u200bwidth":                 1,
	"bad \xff\xfe utf-8 \xc2":         4,
	strings.Repeat("x", 200_000):      1,
	strings.Repeat("é ", 100_000):     100_000,
}

func TestCountWords(t *testing.T) {
	for text, want := range texts {
		if got := countWords([]byte(text)); got != want {
			t.Errorf("countWords(%.20q) = %d, want %d", text, got, want)
		}
		if got := scan(t, text); got != want {
			t.Errorf("scanWords(%.20q) = %d, want %d", text, got, want)
		}
	}
}

// Workers and the plain count use different code, which must agree on any input.
func FuzzCountWords(f *testing.F) {
	for text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := countWords([]byte(text)), scan(t, text); a != b {
			t.Errorf("countWords = %d, scanWords = %d", a, b)
		}
	})
}

func scan(t *testing.T, text string) int {
	t.Helper()
	n, err := scanWords(fstest.MapFS{"f.go": {Data: []byte(text)}}, "f.go")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPlainCount(t *testing.T) {
	input := fstest.MapFS{"a.go": {Data: []byte("a b c")}, "d/b.go": {Data: []byte("d")}, "c.txt": {Data: []byte("e f")}}
	got, err := plainCount(t.Context(), input)
	var want [Partitions]tally
	want[partitionOf("a.go")] = tally{files: 1, words: 3}
	want[partitionOf("d/b.go")] = tally{files: 1, words: 1}
	if err != nil || got != want {
		t.Errorf("plainCount = %v, %v, want %v", got, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plainCount(ctx, input); !errors.Is(err, context.Canceled) {
		t.Errorf("plainCount after cancel: %v", err)
	}
}
