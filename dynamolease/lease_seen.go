package dynamolease

import (
	"sync"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// seenGroups are the rows of the groups that a look has read.
type seenGroups struct {
	mu   *sync.Mutex
	rows map[string]map[rowstore.Key]leaseRow
}

func newSeenGroups() seenGroups {
	return seenGroups{new(sync.Mutex), make(map[string]map[rowstore.Key]leaseRow)}
}

func (g seenGroups) keep(group string, rows []leaseRow) {
	seen := make(map[rowstore.Key]leaseRow, len(rows))
	for _, row := range rows {
		seen[row.key] = row
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rows[group] = seen
}

// row returns the row of a lease, which may be empty; nil if the group was not read.
func (g seenGroups) row(k rowstore.Key, group string) *leaseRow {
	g.mu.Lock()
	defer g.mu.Unlock()
	rows, read := g.rows[group]
	if !read {
		return nil
	}
	row := rows[k]
	return &row
}
