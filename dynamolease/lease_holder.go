package dynamolease

import "github.com/dynamolease/dynamolease/internal/rowstore"

// A holder holds a lease: an owner, until an expiry of the lease's own, or for as long as a
// session lives. The zero holder is nobody.
type holder struct {
	owner   string
	session rowstore.Key // of the session's row; zero for a lease with its own expiry
}

// inSession reports whether the lease lives as long as a session.
func (h holder) inSession() bool { return h.session != rowstore.Key{} }
