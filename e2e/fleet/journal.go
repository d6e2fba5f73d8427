package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A journal is what happened in one simulation, in the bubble's time.
type journal struct {
	began time.Time

	mu      sync.Mutex
	entries []entry
}

type entry struct {
	at        time.Duration // since the simulation began
	node      string
	what      string
	partition int // none, or asked
}

// What an entry is about where it is not about a partition.
const (
	none  = -1
	asked = -2 // a request
)

func newJournal() *journal { return &journal{began: time.Now()} }

func (j *journal) add(node, what string, partition int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry{time.Since(j.began), node, what, partition})
}

// tail is the last n entries that are no requests, as text.
func (j *journal) tail(n int) string {
	list := slices.DeleteFunc(j.sorted(), func(e entry) bool { return e.partition == asked })
	var b strings.Builder
	for _, e := range list[max(0, len(list)-n):] {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// save writes the whole journal to a file of its own, and returns the file's name.
func (j *journal) save() string {
	f, err := os.CreateTemp("", "fleet-*.log")
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	for _, e := range j.sorted() {
		if _, err := fmt.Fprintln(f, e); err != nil {
			return err.Error()
		}
	}
	return f.Name()
}

// sorted is the entries by their time, and those of the same time in an order that goroutines have no part in.
func (j *journal) sorted() []entry {
	j.mu.Lock()
	list := slices.Clone(j.entries)
	j.mu.Unlock()
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.node, b.node), strings.Compare(a.what, b.what), cmp.Compare(a.partition, b.partition))
	})
	return list
}

// digest is a hash of the whole journal.
func (j *journal) digest() string {
	h := sha256.New()
	for _, e := range j.sorted() {
		fmt.Fprintln(h, int64(e.at), e.node, e.what, e.partition)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// String is an entry as a failure shows it.
func (e entry) String() string {
	if e.partition < 0 {
		return fmt.Sprintf("%12v %s %s", e.at.Round(time.Millisecond), e.node, e.what)
	}
	return fmt.Sprintf("%12v %s %s %d", e.at.Round(time.Millisecond), e.node, e.what, e.partition)
}
