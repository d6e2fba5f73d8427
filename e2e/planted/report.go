package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// figures adds up a run.
type figures struct {
	Bugs          int `json:"bugs"`
	Caught        int `json:"caught"`
	CaughtByShort int `json:"caught_by_short"` // by the short proof, counted only if no other suite came first and caught the bug
}

func figuresOf(results []result) figures {
	f := figures{Bugs: len(results)}
	for _, r := range results {
		if r.Verdict == caught {
			f.Caught++
			if r.Short {
				f.CaughtByShort++
			}
		}
	}
	return f
}

func (r result) String() string {
	if r.Verdict == caught {
		return fmt.Sprintf("%-14s %-36s %s %s after %.1fs (%.1fs in all)", r.Verdict, r.Name, r.Suite, r.Test, r.After, r.Seconds)
	}
	return fmt.Sprintf("%-14s %-36s breaks %v: %s (%.1fs in all)\n%s", r.Verdict, r.Name, r.Breaks, r.What, r.Seconds, r.Problem)
}

// save writes the results to a file, and the figures to a folder. It skips those without a name.
func save(results []result, file, figuresDir string) error {
	if file != "" {
		if err := writeJSON(file, results); err != nil {
			return err
		}
	}
	if figuresDir != "" {
		return writeJSON(filepath.Join(figuresDir, "planted.json"), figuresOf(results))
	}
	return nil
}

func writeJSON(file string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
