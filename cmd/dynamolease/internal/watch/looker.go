package watch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// newsKept bounds how many moves are remembered.
const newsKept = 100

// A looker remembers what it saw from one look to the next.
type looker struct {
	store   *dynamolease.Store
	meter   *Meter
	service string
	groups  []string // from the command line; empty for those that the members list

	looked bool
	held   map[string]map[int]dynamolease.Lease // by group
	sizes  map[string]int
	free   map[string]map[int]time.Time // since when partitions are unowned, by group
	known  map[string]bool              // groups that members have listed so far
	marked numbers
	news   []move
}

func newLooker(cfg Config) *looker {
	return &looker{
		store: cfg.Store, meter: cfg.Meter, service: cfg.Service, groups: cfg.Groups,
		held: make(map[string]map[int]dynamolease.Lease), sizes: make(map[string]int), free: make(map[string]map[int]time.Time), known: make(map[string]bool), marked: make(numbers),
	}
}

// look reads the table. If that fails, the looker keeps what it saw before.
func (l *looker) look(ctx context.Context) (*snapshot, error) {
	members, err := l.store.Members(ctx, l.service)
	malformed, err := operate.Malformed(err)
	if err != nil {
		return nil, err
	}
	names := l.names(members)
	owners := make(map[string][]dynamolease.Lease)
	for _, name := range names {
		leases, err := l.store.Leases(ctx, name)
		more, err := operate.Malformed(err)
		if err != nil {
			return nil, err
		}
		for _, lease := range leases {
			l.sizes[name] = max(l.sizes[name], lease.Partition+1)
		}
		owners[name] = slices.DeleteFunc(leases, func(lease dynamolease.Lease) bool { return lease.Owner == "" })
		malformed = operate.Merge(malformed, more)
	}
	s := &snapshot{At: time.Now(), Service: l.service, Malformed: malformed, Groups: []group{}, Moves: []move{}, first: !l.looked}
	if earliest, latest, ok := l.store.Now(); ok {
		s.Clock = &bounds{earliest.UTC(), latest.UTC()}
	}
	s.Members = l.members(members, names, owners)
	for _, name := range names {
		s.Moves = append(s.Moves, l.moves(s.At, name, owners[name])...)
		s.Groups = append(s.Groups, l.group(s.At, s.Members, name, owners[name]))
	}
	if l.looked {
		l.news = append(l.news, s.Moves...)
		l.news = l.news[max(0, len(l.news)-newsKept):]
	}
	l.looked = true
	s.news, s.Units = slices.Clone(l.news), l.meter.Units()
	return s, nil
}

// names returns the groups to look at. A group that members have listed stays when they are gone,
// because its leases may outlive them.
func (l *looker) names(members []dynamolease.Member) []string {
	if len(l.groups) > 0 {
		return l.groups
	}
	for _, name := range operate.GroupsOf(members) {
		l.known[name] = true
	}
	var names []string
	for name := range l.known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// members lists the members, and other holders of leases, by name.
func (l *looker) members(found []dynamolease.Member, names []string, owners map[string][]dynamolease.Lease) []member {
	list := make([]member, 0, len(found))
	for _, m := range found {
		list = append(list, member{
			Node: m.Node, Session: m.Session, Address: m.Address, Here: true, Drained: m.Drained,
			Left: operate.LeftUntil(l.store, m.ExpiresAt), Shares: make([]int, len(names)),
		})
	}
	index := make(map[string]int)
	for i, m := range list {
		index[m.Node] = i
	}
	for i, name := range names {
		for _, lease := range owners[name] {
			node := lease.Node()
			if _, ok := index[node]; !ok {
				index[node] = len(list)
				list = append(list, member{Node: node, Shares: make([]int, len(names))})
			}
			list[index[node]].Shares[i]++
		}
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(a.Node, b.Node) })
	l.marked.number(list)
	return list
}

func (l *looker) group(at time.Time, members []member, name string, leases []dynamolease.Lease) group {
	g := group{Name: name, Held: len(leases), nodes: make(map[int]int)}
	index := make(map[string]int)
	for i, m := range members {
		index[m.Node] = i
	}
	for _, lease := range leases {
		g.nodes[lease.Partition] = index[lease.Node()]
	}
	g.size = l.sizes[name]
	g.Unowned = l.unowned(at, g)
	return g
}

// unowned lists the partitions of a group that nobody holds, and remembers since when.
func (l *looker) unowned(at time.Time, g group) (list []unowned) {
	before, now := l.free[g.Name], make(map[int]time.Time)
	for partition := range g.size {
		if _, held := g.nodes[partition]; held {
			continue
		}
		since, ok := before[partition]
		if !ok {
			since = at
		}
		now[partition] = since
		list = append(list, unowned{partition, since})
	}
	l.free[g.Name] = now
	return list
}

// moves compares the leases of a group with those of the look before, and remembers them.
func (l *looker) moves(at time.Time, name string, leases []dynamolease.Lease) []move {
	before, now := l.held[name], make(map[int]dynamolease.Lease, len(leases))
	var list []move
	for _, lease := range leases {
		now[lease.Partition] = lease
		if former, ok := before[lease.Partition]; !ok || former.Epoch != lease.Epoch {
			list = append(list, move{at, name, lease.Partition, holder(former), holder(lease), lease.Epoch})
		}
	}
	for partition, former := range before {
		if _, ok := now[partition]; !ok {
			list = append(list, move{at, name, partition, holder(former), "", former.Epoch})
		}
	}
	slices.SortFunc(list, func(a, b move) int { return cmp.Compare(a.Partition, b.Partition) })
	l.held[name] = now
	return list
}

// holder is the node of a lease, and empty for none.
func holder(lease dynamolease.Lease) string { return lease.Node() }
