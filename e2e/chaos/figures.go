//go:build linux

package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Figures are what a run amounted to.
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

// write puts the figures where PROOF_FIGURES_DIR says, if it does.
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
