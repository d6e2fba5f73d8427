package fleet

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// figures adds up many simulations.
type figures struct {
	mu sync.Mutex

	Runs       int            `json:"runs"`
	NodeHours  float64        `json:"node_hours"` // live nodes, times the simulated time
	Events     map[string]int `json:"events"`     // how many nodes each kind of event affected
	Requests   int            `json:"requests"`   // that reached the server
	Moves      int            `json:"moves"`      // how often a node gained a partition
	Faults     int            `json:"faults"`     // requests that met a fault in a noise
	Violations int            `json:"violations"`
	Seed       uint64         `json:"seed"`
}

func (f *figures) add(s summary) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Runs++
	f.NodeHours = math.Round(10*(f.NodeHours+s.hours)) / 10
	f.Requests += s.requests
	f.Moves += s.moves
	f.Faults += s.faults
	f.Violations += s.violations
	for what, n := range s.events {
		f.Events[what] += n
	}
}

func (f *figures) hours() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.NodeHours
}

// write saves the figures in the directory PROOF_FIGURES_DIR, if it is set.
func (f *figures) write() error {
	dir := os.Getenv("PROOF_FIGURES_DIR")
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "fleet.json"), append(text, '\n'), 0o644)
}
