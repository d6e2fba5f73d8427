package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// figures adds up the histories of a run.
type figures struct {
	mu sync.Mutex

	Histories  int            `json:"histories"`
	Operations int            `json:"operations"`
	Faulted    int            `json:"faulted"` // operations that met a fault
	Faults     map[string]int `json:"faults"`
	Checked    int            `json:"checked"`   // operations of the models, including attempts whose answer no caller saw
	Undecided  int            `json:"undecided"` // searches that took too long
	Violations int            `json:"violations"`
	Seed       uint64         `json:"seed"`
}

func (f *figures) add(v verdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Histories++
	f.Operations += v.operations
	f.Faulted += v.faulted
	f.Checked += v.checked
	f.Undecided += v.unknown
	f.Violations += len(v.problems)
	if f.Faults == nil {
		f.Faults = make(map[string]int)
	}
	for kind, n := range v.faults {
		if n > 0 {
			f.Faults[faultNames[kind]] += n
		}
	}
}

func (f *figures) violated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Violations > 0
}

func (f *figures) String() string {
	return fmt.Sprintf("%d histories, %d operations, %d of them (%d%%) met a fault, %d operations checked, %d searches undecided, %d violations",
		f.Histories, f.Operations, f.Faulted, 100*f.Faulted/max(1, f.Operations), f.Checked, f.Undecided, f.Violations)
}

// save writes the figures to the directory PROOF_FIGURES_DIR, if it is set.
func (f *figures) save() error {
	dir := os.Getenv("PROOF_FIGURES_DIR")
	if dir == "" {
		return nil
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "history.json"), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}
