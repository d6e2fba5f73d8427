package demo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
)

// A tally is a count.
type tally struct {
	files int
	words int
}

func (t *tally) add(o tally) {
	t.files += o.files
	t.words += o.words
}

// countWords counts as the workers do.
func countWords(text []byte) int {
	words := 0
	for range bytes.FieldsSeq(text) {
		words++
	}
	return words
}

// plainCount counts the whole input in one go, without leases, and on purpose with other code than
// the workers use.
func plainCount(ctx context.Context, input fs.FS) (sums [Partitions]tally, err error) {
	files, err := goFiles(input)
	if err != nil {
		return sums, err
	}
	for _, name := range files {
		if err := context.Cause(ctx); err != nil {
			return sums, err
		}
		words, err := scanWords(input, name)
		if err != nil {
			return sums, fmt.Errorf("count the words of %s: %w", name, err)
		}
		sums[partitionOf(name)].add(tally{files: 1, words: words})
	}
	return sums, nil
}

func scanWords(input fs.FS, name string) (int, error) {
	f, err := input.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	words := bufio.NewScanner(f)
	words.Buffer(nil, int(info.Size())+bufio.MaxScanTokenSize) // a file may be one long word
	words.Split(bufio.ScanWords)
	n := 0
	for words.Scan() {
		n++
	}
	return n, words.Err()
}
