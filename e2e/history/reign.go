package history

import (
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A reign is the time in which a boot may believe that it has the identity.
type reign struct {
	manager *processlease.Manager
	lease   processlease.Record // as it was acquired
}

// reigning notes a reign that begins, and expects that there is one at most and that it is in the table.
func (w *world) reigning(r *reign) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r != nil {
		w.reigns = append(w.reigns, r)
	}
	head := w.db.row(rowKey{"P#" + identity, "HEAD"})
	var valid []*reign
	for _, r := range w.reigns {
		if !r.manager.Valid() {
			continue
		}
		valid = append(valid, r)
		if head.text("owner") != r.lease.Owner.String() || head.number("term") != int64(r.lease.Term) {
			w.problems = append(w.problems, fmt.Sprintf("valid, and not in the table: %v; the head is %v", r.lease, head))
		}
	}
	if len(valid) > 1 {
		w.problems = append(w.problems, fmt.Sprintf("valid at once: %v and %v", valid[0].lease, valid[1].lease))
	}
}
