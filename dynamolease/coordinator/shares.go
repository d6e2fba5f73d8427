package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
)

// maxAwaited is for how long a group waits at the most for the owners of the other groups, before it
// is planned by what was known of these before.
const maxAwaited = time.Second

// A census is what a node knows of all groups of its service, by which it decides on shares: who may
// take what, as the members say, and how many partitions each has, as the latest look at the owners of
// each group says.
type census struct {
	own      map[string]int // how many partitions this node has of each of its groups
	patience time.Duration  // for how long a group waits for the others

	mu      sync.Mutex
	members map[string][]plan.Member  // by group
	counts  map[string]map[string]int // by group of this node
	shares  map[string][]int          // by group, in the order of the members; nil before they are decided
	looking int                       // groups whose owners are being read
	found   chan struct{}             // closed when none is any more
}

func newCensus(cfg Config) *census {
	s := &census{own: make(map[string]int), patience: min(maxAwaited, cfg.Interval/2), counts: make(map[string]map[string]int), found: make(chan struct{})}
	for _, g := range cfg.Groups {
		s.own[g.Name] = g.Partitions
		s.counts[g.Name] = make(map[string]int)
	}
	close(s.found)
	return s
}

// observe takes the members of the service.
func (s *census) observe(members []dynamolease.Member) {
	takers := takersOf(members, s.own)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.EqualFunc(takers, s.members, func(a, b []plan.Member) bool { return slices.EqualFunc(a, b, plan.Member.Equal) }) {
		s.members, s.shares = takers, nil
	}
}

// takersOf returns the nodes that take part in each group, and what they may take. A node that does
// not say how many partitions it has of a group is taken to have as many as this one, and none has more
// than a coordinator accepts.
func takersOf(members []dynamolease.Member, own map[string]int) map[string][]plan.Member {
	takers := make(map[string][]plan.Member)
	for _, m := range members {
		if m.Drained {
			continue
		}
		for _, group := range m.Groups {
			takes, told := m.Takes[group]
			if !told {
				takes.Partitions = max(1, own[group])
			}
			takers[group] = append(takers[group], plan.Member{Name: m.Node, Partitions: min(takes.Partitions, maxPartitions), Except: takes.Except})
		}
	}
	return takers
}

// look notes that this node is about to read the owners of so many groups.
func (s *census) look(groups int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looking == 0 && groups > 0 {
		s.found = make(chan struct{})
	}
	s.looking += groups
}

// count takes how many partitions of a group each node has. It is nil if they could not be read.
func (s *census) count(group string, count map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if count != nil && !maps.Equal(count, s.counts[group]) {
		s.counts[group], s.shares = count, nil
	}
	if s.looking--; s.looking == 0 {
		close(s.found)
	}
}

// await waits until the owners of all groups have been read that are being read: not for long, since
// one group may be slow.
func (s *census) await(ctx context.Context) {
	s.mu.Lock()
	found := s.found
	s.mu.Unlock()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case <-found:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *census) membersOf(group string) []plan.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members[group]
}

// of returns the members of a group, and how many partitions each should have.
func (s *census) of(group string) (members []plan.Member, shares []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares == nil {
		s.decide()
	}
	return s.members[group], s.shares[group]
}

// share returns how many partitions of a group a node should have.
func (s *census) share(group, node string) int {
	members, shares := s.of(group)
	i, ok := slices.BinarySearchFunc(members, node, func(m plan.Member, name string) int { return cmp.Compare(m.Name, name) })
	if !ok {
		return 0
	}
	return shares[i]
}

// decide decides on the shares of all groups together.
func (s *census) decide() {
	names := slices.Sorted(maps.Keys(s.members)) // in one order on all nodes
	groups := make([]plan.Group, len(names))
	for i, name := range names {
		groups[i] = plan.Group{Name: name, Members: s.members[name], Count: s.counts[name]}
	}
	s.shares = make(map[string][]int, len(names))
	for i, shares := range plan.Shares(groups) {
		s.shares[names[i]] = shares
	}
}
