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

// A journal records the events of one simulation, in the bubble's time.
type journal struct {
	began time.Time

	mu      sync.Mutex
	entries []entry
}

type entry struct {
	at        time.Duration // since the simulation began
	node      string
	what      string
	partition int // or none, or asked
}

// Entries without a partition have one of these instead.
const (
	none  = -1
	asked = -2 // the entry is a request
)

func newJournal() *journal { return &journal{began: time.Now()} }

func (j *journal) add(node, what string, partition int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry{time.Since(j.began), node, what, partition})
}

// tail returns the last n entries as text, without the requests.
func (j *journal) tail(n int) string {
	list := slices.DeleteFunc(j.sorted(), func(e entry) bool { return e.partition == asked })
	var b strings.Builder
	for _, e := range list[max(0, len(list)-n):] {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// save writes the whole journal to a new file, and returns the file's name.
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

// sorted returns the entries in the order of their times. The order of entries of the same time
// does not depend on goroutines.
func (j *journal) sorted() []entry {
	j.mu.Lock()
	list := slices.Clone(j.entries)
	j.mu.Unlock()
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.node, b.node), strings.Compare(a.what, b.what), cmp.Compare(a.partition, b.partition))
	})
	return list
}

// digest returns a hash of the whole journal.
func (j *journal) digest() string {
	h := sha256.New()
	for _, e := range j.sorted() {
		fmt.Fprintln(h, int64(e.at), e.node, e.what, e.partition)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// String returns the entry in the form in which a failure shows it.
func (e entry) String() string {
	if e.partition < 0 {
		return fmt.Sprintf("%12v %s %s", e.at.Round(time.Millisecond), e.node, e.what)
	}
	return fmt.Sprintf("%12v %s %s %d", e.at.Round(time.Millisecond), e.node, e.what, e.partition)
}
