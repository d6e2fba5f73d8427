package dynamolease

import "fmt"

// An Access is what a program uses a table for, in terms of groups, services and nodes. The zero
// Access uses nothing. [Store.CheckAccess] proves that the credentials allow it.
type Access struct {
	// Groups are the groups whose leases the program acquires, renews, releases and reads.
	Groups []string

	// Services are the services that the program is a node of: by heartbeats, or by sessions, with
	// leases in them.
	Services []string

	// Takeovers are the services whose sessions may hold leases of Groups: to take a lease over from a
	// session that died, a program marks the session as over. A coordinator needs its own service. A
	// program with plain leases needs each service whose sessions hold leases of its groups, if any.
	Takeovers []string

	// Nodes are the nodes whose process leases the program holds, takes over and fences.
	Nodes []string

	// Renew says that the program calls Renew, which uses transactions unless [Options.Renewal] is
	// [EachItem].
	Renew bool

	// Transactions says that the program calls AcquireAll, or Transact with items.
	Transactions bool

	// LeaseChecks says that the program puts [Lease.Check] into transactions of its own.
	LeaseChecks bool

	// Reap says that the program calls Reap.
	Reap bool
}

func (a Access) validate() error {
	for _, list := range []struct {
		field string
		names []string
	}{{"Access.Groups", a.Groups}, {"Access.Services", a.Services}, {"Access.Takeovers", a.Takeovers}, {"Access.Nodes", a.Nodes}} {
		for i, name := range list.names {
			if err := checkName(fmt.Sprintf("%s[%d]", list.field, i), name); err != nil {
				return err
			}
		}
	}
	return nil
}
