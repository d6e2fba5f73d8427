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

// What an event says.
const (
	begin    = "begin"    // somebody begins to believe in a lease
	believe  = "believe"  // it does still, and is about to act on it
	wrote    = "wrote"    // the store says that the item was written
	refused  = "refused"  // the store says that it was not
	unknown  = "unknown"  // nothing tells
	end      = "end"      // it believes in the lease no more
	unfenced = "unfenced" // the evidence of a takeover does not hold
)

// identity is the partition of events that are about the node identity for which boots fight.
const identity = -1

// An event is one line of a record.
type event struct {
	At        instant `json:"at"`
	Until     instant `json:"until,omitempty"` // the lease is believed in until then
	Process   string  `json:"process"`         // one start of one node
	Kind      string  `json:"kind"`
	Partition int     `json:"partition"`
	Epoch     int64   `json:"epoch"` // or the term
	Item      int     `json:"item,omitempty"`
}

// A recorder appends to the record of one process. There is no buffer in the process: what is recorded outlives a SIGKILL.
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

// note records an event of now. remaining is what the lease has left; it is read after the clock, so that the end of
// the belief is never recorded too late.
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

// readRecord is the events of a file. A last line without an end is one that a kill cut short.
func readRecord(name string) ([]event, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it was killed before it did anything
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
