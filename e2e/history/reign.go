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

// reigning notes a reign that begins. It expects that at most one manager is valid, and that the
// table has its owner.
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
			w.problems = append(w.problems, fmt.Sprintf("a manager is valid, and the table has another owner or term: %v; the head is %v", r.lease, head))
		}
	}
	if len(valid) > 1 {
		w.problems = append(w.problems, fmt.Sprintf("two managers are valid at once: %v and %v", valid[0].lease, valid[1].lease))
	}
}
