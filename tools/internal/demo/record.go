package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// A kind says what happened in an event.
type kind string

const (
	started  kind = "started"  // a handler begins to count a partition, with the file From
	kept     kind = "kept"     // the lease has a new end
	adding   kind = "adding"   // the handler is about to add a chunk to the result
	added    kind = "added"    // the store says that it added the chunk
	refused  kind = "refused"  // the store refused the chunk: the lease is another's
	unknown  kind = "unknown"  // the chunk may or may not be in the result
	returned kind = "returned" // the handler has ended
)

// An event is one line of a worker's record: what a handler does or hears, and until when it relies
// on the lease.
type event struct {
	At        instant `json:"at"`
	Until     instant `json:"until"`
	Owner     string  `json:"owner"`
	Kind      kind    `json:"kind"`
	Partition int     `json:"partition"`
	Epoch     int64   `json:"epoch"`
	From      int     `json:"from,omitempty"`
	To        int     `json:"to,omitempty"`
}

// A recorder appends events to a file. It does not buffer, so that a record outlives a SIGKILL.
type recorder struct {
	mu   sync.Mutex
	file *os.File
}

func openRecorder(name string) (*recorder, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	return &recorder{file: f}, nil
}

// add appends an event. A worker that cannot record must not act.
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

func (r *recorder) close() error { return r.file.Close() }

// readRecord returns the events of a file. It ignores a last line that a kill has cut short.
func readRecord(name string) ([]event, error) {
	text, err := os.ReadFile(name)
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
