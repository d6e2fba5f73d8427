package main

import (
	"fmt"
	"os"
	"time"
)

// A record is the file with everything that the suites of a run print. The file stays if the run
// fails, or if something kills it.
type record struct{ file *os.File }

func newRecord(s settings, begun time.Time) (record, error) {
	file, err := os.CreateTemp("", "dynamolease-proof-*.log")
	if err != nil {
		return record{}, fmt.Errorf("make a file for the output: %w", err)
	}
	seed := "each suite uses its fixed seed, or prints the seed that it chooses"
	if s.seed != "" {
		seed = "PROOF_SEED=" + s.seed
	}
	_, err = fmt.Fprintf(file, "proof of %s: long %v, planted %v, aws %v\nseed: %s\n",
		begun.Format(time.RFC3339), s.long, s.planted, s.aws, seed)
	return record{file}, err
}

// close removes the file if the run succeeded. Otherwise the last line of the error names the file.
func (r record) close(err error) error {
	if err == nil {
		_ = r.file.Close()
		return os.Remove(r.file.Name())
	}
	if _, writeErr := fmt.Fprintln(r.file, "error:", err); writeErr != nil {
		err = fmt.Errorf("%w\nthe record is incomplete: %w", err, writeErr)
	}
	if closeErr := r.file.Close(); closeErr != nil {
		err = fmt.Errorf("%w\nthe record is incomplete: %w", err, closeErr)
	}
	return fmt.Errorf("%w\nthe seed and the output of all suites are in %s", err, r.file.Name())
}
