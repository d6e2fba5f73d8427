package demo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "w1.jsonl")
	r, err := openRecorder(name)
	if err != nil {
		t.Fatal(err)
	}
	want := []event{
		{At: 1, Until: 9, Owner: "w1", Kind: started, Partition: 7, Epoch: 1 << 52},
		{At: 2, Until: 9, Owner: "w1", Kind: adding, Partition: 7, Epoch: 1 << 52, From: 5, To: 10},
	}
	for _, e := range want {
		if err := r.add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if got, err := readRecord(name); err != nil || !slices.Equal(got, want) {
		t.Errorf("readRecord = %v, %v, want %v", got, err, want)
	}
	if err := r.add(event{}); err == nil {
		t.Error("an event that could not be written is no error")
	}
}

func TestReadRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "w1.jsonl")
	tests := []struct {
		name, text string
		events     int
		ok         bool
	}{
		{"empty", "", 0, true},
		{"cut short by a kill", `{"at":1,"kind":"started"}` + "\n" + `{"at":2,"ki`, 1, true},
		{"spoiled", `{"at":1,"kind":"started"}` + "\n{\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			events, err := readRecord(name)
			if len(events) != tt.events || (err == nil) != tt.ok {
				t.Errorf("readRecord = %d events, %v, want %d, ok=%v", len(events), err, tt.events, tt.ok)
			}
		})
	}
	if _, err := readRecord(name + "2"); err == nil {
		t.Error("a record that is not there is no error")
	}
}
