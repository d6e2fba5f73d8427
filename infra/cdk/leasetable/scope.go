package leasetable

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// A Scope is a part of a table, in terms of groups, services and nodes. A coordinator needs its
// service and its groups.
//
// Groups without Services are enough for a program with plain leases if no session ever holds a
// lease of these groups. To look at such a lease, a program reads the session's row, which is under
// its service, and to take it over from a session that died, it marks that row.
type Scope struct {
	Groups   []string // the leases of these groups
	Services []string // the members and sessions of these services
	Nodes    []string // the process leases of these nodes
}

const maxName = 255

// validate names the first field that cannot work.
func (s *Scope) validate() error {
	if len(s.Groups)+len(s.Services)+len(s.Nodes) == 0 {
		return refuse("Scope", "has nothing in it: name groups, services or nodes, or pass nil for the whole table")
	}
	for _, list := range []struct {
		field string
		names []string
	}{
		{"Scope.Groups", s.Groups}, {"Scope.Services", s.Services}, {"Scope.Nodes", s.Nodes},
	} {
		for _, name := range list.names {
			if err := checkName(list.field, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkName(field, name string) error {
	switch {
	case name == "":
		return refuse(field, "has an empty name")
	case *awscdk.Token_IsUnresolved(name):
		return refuse(field, "has a name that is known only at deployment, so it cannot be checked: write it out")
	case len(name) > maxName || !utf8.ValidString(name):
		return refuse(field, "has the name %q: 1 to %d bytes of valid UTF-8 are allowed", name, maxName)
	}
	return nil
}

// workKeys returns the partition keys of the leases and the members. processKeys returns those of
// the process leases.
func (s *Scope) workKeys() []string {
	return append(keys(leasePrefix, s.Groups), keys(memberPrefix, s.Services)...)
}

func (s *Scope) processKeys() []string { return keys(nodePrefix, s.Nodes) }

func keys(prefix string, names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, prefix+literal(name))
	}
	slices.SortFunc(list, strings.Compare)
	return slices.Compact(list)
}
