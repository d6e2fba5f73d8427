package dynamolease

import "cmp"

// A process is what the sessions of one process of a node have in common: when it first joined, in
// the store's time, and the session that it joined by. Of a node's processes the one that first
// joined last is the newest, however often the others have opened another session since. Where two
// joined in one millisecond, the greater name of that first session decides.
type process struct {
	joined int64
	first  string
}

// newer reports whether a process is newer than another one of its node.
func (p process) newer(other process) bool {
	return cmp.Or(cmp.Compare(p.joined, other.joined), cmp.Compare(p.first, other.first)) > 0
}
