package plan

import (
	"fmt"
	"slices"
)

// A Group is what a node knows of a group when it decides on shares.
type Group struct {
	Name    string
	Members []Member // sorted by name

	// Count is how many partitions each member has, as the node saw it last. It is nil for a group
	// in which the node takes no part: such a group only tells which nodes take part in the same groups.
	Count map[string]int
}

// Shares returns how many partitions of each group each of its members should have, in the order of
// the members.
//
// In each group shares are as equal as can be, where some members have one partition more than the
// others: an extra. Nodes that take part in the same groups with the same numbers of partitions are
// one class. The extras of all groups together are dealt so that the nodes of a class differ by one
// extra at the most, in total. That takes as few moves as possible, and at rest none.
//
// A class may take part in groups that other classes do not know. So the extras are dealt in two
// steps, and each node can take those that concern itself. First, groups with the same members deal
// theirs to the classes among them, each in proportion to its nodes. Then each class deals what it got
// to its nodes.
func Shares(groups []Group) [][]int {
	d := newDealing(groups)
	d.toClasses()
	return d.toNodes()
}

// A dealing is the extras of all groups on their way to the nodes.
type dealing struct {
	nodes   []node
	classes [][]int // the nodes of each class
	stacks  []stack // of all pools of groups that this node knows
	shares  [][]int // of the members of each group
}

type node struct {
	seed  uint64
	class int
	part  int // its place in the class
}

// A stack is the extras of a pool.
type stack struct {
	pool
	seed    uint64
	nodes   []int  // of the members of the pool
	has     []bool // which of these have more than the least share by now
	classes []int  // among these, in order
	parts   []int  // how many extras each class gets
}

func newDealing(groups []Group) *dealing {
	d := &dealing{}
	names := namesOf(groups)
	for _, name := range names {
		d.nodes = append(d.nodes, node{seed: hashText(name)})
	}
	var all []stack
	for i, g := range groups {
		d.shares = append(d.shares, make([]int, len(g.Members)))
		nodes := make([]int, len(g.Members))
		for m, at := 0, 0; m < len(g.Members); m++ {
			for names[at] != g.Members[m].Name {
				at++
			}
			nodes[m] = at
		}
		for _, p := range poolsOf(i, g.Members) {
			s := stack{pool: p, seed: hashText(g.Name), nodes: make([]int, len(p.members))}
			for j, m := range p.members {
				s.nodes[j] = nodes[m]
			}
			all = append(all, s)
		}
	}
	d.classify(all)
	for _, s := range all {
		if g := groups[s.group]; g.Count != nil {
			s.has = make([]bool, len(s.members))
			for j, m := range s.members {
				s.has[j] = g.Count[g.Members[m].Name] > s.least
			}
			d.stacks = append(d.stacks, s)
		}
	}
	return d
}

// namesOf returns the names of all members, sorted, each once.
func namesOf(groups []Group) (names []string) {
	for _, g := range groups {
		at, sorted := 0, len(names)
		for _, m := range g.Members {
			for at < sorted && names[at] < m.Name {
				at++
			}
			if at == sorted || names[at] != m.Name {
				names = append(names, m.Name)
			}
		}
		if len(names) > sorted {
			slices.Sort(names)
		}
	}
	return names
}

// classify divides the nodes into classes: those that are in the same pools.
func (d *dealing) classify(stacks []stack) {
	size := []int{len(d.nodes)}
	for _, s := range stacks {
		inside, to := make([]int, len(size)), make([]int, len(size))
		for _, n := range s.nodes {
			inside[d.nodes[n].class]++
		}
		for class, n := range inside {
			if to[class] = class; n > 0 && n < size[class] {
				to[class] = len(size)
				size[class] -= n
				size = append(size, n)
			}
		}
		for _, n := range s.nodes {
			d.nodes[n].class = to[d.nodes[n].class]
		}
	}
	d.classes = make([][]int, len(size))
	for i := range d.nodes {
		n := &d.nodes[i]
		n.part = len(d.classes[n.class])
		d.classes[n.class] = append(d.classes[n.class], i)
	}
	for i := range stacks {
		seen := make([]bool, len(d.classes))
		for _, n := range stacks[i].nodes {
			seen[d.nodes[n].class] = true
		}
		for class, is := range seen {
			if is {
				stacks[i].classes = append(stacks[i].classes, class)
			}
		}
	}
}

// toClasses deals the extras to classes, those of all pools with the same members together.
func (d *dealing) toClasses() {
	blocks := make(map[string]int)
	var list [][]*stack
	for i := range d.stacks {
		s := &d.stacks[i]
		if len(s.classes) == 1 {
			s.parts = []int{s.extras}
			continue
		}
		name := fmt.Sprint(s.classes)
		if _, ok := blocks[name]; !ok {
			blocks[name] = len(list)
			list = append(list, nil)
		}
		list[blocks[name]] = append(list[blocks[name]], s)
	}
	for _, block := range list {
		d.toClassesOf(block)
	}
}

func (d *dealing) toClassesOf(block []*stack) {
	classes := block[0].classes
	t := table{}
	place := make([]int, len(d.classes))
	for part, class := range classes {
		place[class] = part
		t.sizes = append(t.sizes, len(d.classes[class]))
		t.seeds = append(t.seeds, d.nodes[d.classes[class][0]].seed)
	}
	for _, s := range block {
		k := deck{seed: s.seed, extras: s.extras, has: make([]int32, len(classes))}
		for j, n := range s.nodes {
			if s.has[j] {
				k.has[place[d.nodes[n].class]]++
			}
		}
		t.decks = append(t.decks, k)
	}
	t.deal()
	for i, s := range block {
		for _, n := range t.decks[i].gets {
			s.parts = append(s.parts, int(n))
		}
	}
}

// toNodes deals the extras of each class to its nodes, and returns the shares.
func (d *dealing) toNodes() [][]int {
	tables := make([]table, len(d.classes))
	for class, nodes := range d.classes {
		for _, n := range nodes {
			tables[class].sizes = append(tables[class].sizes, 1)
			tables[class].seeds = append(tables[class].seeds, d.nodes[n].seed)
		}
	}
	for _, s := range d.stacks {
		for i, class := range s.classes {
			k := deck{seed: s.seed, extras: s.parts[i], has: make([]int32, len(d.classes[class]))}
			tables[class].decks = append(tables[class].decks, k)
		}
		for j, n := range s.nodes {
			if s.has[j] {
				decks := tables[d.nodes[n].class].decks
				decks[len(decks)-1].has[d.nodes[n].part] = 1
			}
		}
	}
	for class := range tables {
		tables[class].deal()
	}
	dealt := make([]int, len(d.classes)) // decks of each class so far
	for _, s := range d.stacks {
		for j, n := range s.nodes {
			class := d.nodes[n].class
			d.shares[s.group][s.members[j]] = s.least + int(tables[class].decks[dealt[class]].gets[d.nodes[n].part])
		}
		for _, class := range s.classes {
			dealt[class]++
		}
	}
	return d.shares
}
