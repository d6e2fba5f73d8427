//go:build linux

package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// These are the kinds of events.
const (
	begin    = "begin"    // the process begins to believe in a lease
	believe  = "believe"  // it still believes, and is about to act under the lease
	wrote    = "wrote"    // the store answered that it wrote the item
	refused  = "refused"  // the store answered that it did not
	unknown  = "unknown"  // the outcome is unknown
	end      = "end"      // the process no longer believes in the lease
	unfenced = "unfenced" // the fence of a takeover does not hold
)

// identity is the partition in events about the node identity for which boots fight.
const identity = -1

// An event is one line of a record.
type event struct {
	At        instant `json:"at"`
	Until     instant `json:"until,omitempty"` // until when the process believes in the lease
	Process   string  `json:"process"`         // one start of one node
	Kind      string  `json:"kind"`
	Partition int     `json:"partition"`
	Epoch     int64   `json:"epoch"` // or the term
	Item      int     `json:"item,omitempty"`
}

// A recorder appends to the record of one process. It has no buffer, so that each event outlives a
// SIGKILL.
type recorder struct {
	process string
	mu      sync.Mutex
	file    *os.File
}

func openRecorder(name, process string) (*recorder, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	return &recorder{process: process, file: f}, nil
}

// note records an event that happens now. remaining returns the time that the lease has left. note
// calls it after it reads the clock, so that it never records the end of the belief too late.
func (r *recorder) note(kind string, partition int, epoch int64, item int, remaining func() time.Duration) error {
	at := now()
	return r.add(event{at, at.add(remaining()), r.process, kind, partition, epoch, item})
}

func (r *recorder) add(e event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return nil
}

// readRecord returns the events of a file. It ignores a last line without an end: a kill cut it
// short.
func readRecord(name string) ([]event, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a kill ended the process before its first event
	}
	if err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	var events []event
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("decode line %d of %s: %w", len(events)+1, name, err)
		}
		events = append(events, e)
	}
	return events, nil
}
