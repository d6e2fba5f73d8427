//go:build linux

package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// figures holds the figures of a run.
type figures struct {
	Kills         int    `json:"kills"`
	Pauses        int    `json:"pauses"`
	Restarts      int    `json:"restarts"`
	Cuts          int    `json:"cuts"`
	DatabaseKills int    `json:"database_kills"`
	Records       int    `json:"records"`
	Overlaps      int    `json:"overlaps"`
	Violations    int    `json:"violations"`
	Seed          uint64 `json:"seed"`
}

// write saves the figures in the directory PROOF_FIGURES_DIR, if it is set.
func (f figures) write() error {
	dir := os.Getenv("PROOF_FIGURES_DIR")
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "chaos.json"), append(text, '\n'), 0o644)
}
