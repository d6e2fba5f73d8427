package plan

import (
	"fmt"
	"slices"
	"strings"
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
	shares := make([][]int, len(groups))
	for i, g := range groups {
		shares[i] = make([]int, len(g.Members))
	}
	for i, p := range d.pools {
		for _, m := range p.members {
			shares[p.group][m] = p.least
		}
		if groups[p.group].Count == nil {
			d.pools[i].extras = 0
		}
	}
	d.toClasses()
	for class := range d.classes {
		d.toNodes(class, shares)
	}
	return shares
}

// A dealing is the extras of all groups on their way to the nodes.
type dealing struct {
	groups  []Group
	pools   []pool
	names   []string      // of all nodes, sorted
	nodes   [][]int       // the indices in names of the members of each group
	classOf []int         // of each node
	classes [][]int       // the nodes of each class
	within  [][]int       // the classes of each pool
	parts   []map[int]int // how many extras of each pool each class gets
}

func newDealing(groups []Group) *dealing {
	d := &dealing{groups: groups}
	for i, g := range groups {
		for _, m := range g.Members {
			d.names = append(d.names, m.Name)
		}
		d.pools = append(d.pools, poolsOf(i, g.Members)...)
	}
	slices.Sort(d.names)
	d.names = slices.Compact(d.names)
	for _, g := range groups {
		list, at := make([]int, len(g.Members)), 0
		for i, m := range g.Members {
			for d.names[at] != m.Name {
				at++
			}
			list[i] = at
		}
		d.nodes = append(d.nodes, list)
	}
	d.classify()
	return d
}

// classify divides the nodes into classes: those that are in the same pools.
func (d *dealing) classify() {
	d.classOf = make([]int, len(d.names))
	size := []int{len(d.names)}
	for _, p := range d.pools {
		inside := make([]int, len(size))
		for _, m := range p.members {
			inside[d.classOf[d.nodes[p.group][m]]]++
		}
		to := make([]int, len(inside))
		for class, n := range inside {
			if to[class] = class; n > 0 && n < size[class] {
				to[class] = len(size)
				size[class] -= n
				size = append(size, n)
			}
		}
		for _, m := range p.members {
			node := d.nodes[p.group][m]
			d.classOf[node] = to[d.classOf[node]]
		}
	}
	d.classes = make([][]int, len(size))
	for node, class := range d.classOf {
		d.classes[class] = append(d.classes[class], node)
	}
	for _, p := range d.pools {
		seen := make(map[int]bool)
		var list []int
		for _, m := range p.members {
			if class := d.classOf[d.nodes[p.group][m]]; !seen[class] {
				seen[class] = true
				list = append(list, class)
			}
		}
		slices.Sort(list)
		d.within = append(d.within, list)
	}
}

// toClasses deals the extras of each pool to classes, those of all pools with the same members
// together.
func (d *dealing) toClasses() {
	d.parts = make([]map[int]int, len(d.pools))
	blocks := make(map[string][]int)
	var order []string
	for i, p := range d.pools {
		if p.extras == 0 {
			continue
		}
		name := strings.Trim(fmt.Sprint(d.within[i]), "[]")
		if blocks[name] == nil {
			order = append(order, name)
		}
		blocks[name] = append(blocks[name], i)
	}
	for _, name := range order {
		d.toClassesOf(blocks[name])
	}
}

func (d *dealing) toClassesOf(block []int) {
	classes := d.within[block[0]]
	t := table{}
	for _, class := range classes {
		t.sizes = append(t.sizes, len(d.classes[class]))
		t.seeds = append(t.seeds, hashText(d.names[d.classes[class][0]]))
	}
	for _, i := range block {
		p := d.pools[i]
		k := deck{seed: hashText(d.groups[p.group].Name), extras: p.extras, has: make([]int32, len(classes))}
		for _, m := range p.members {
			if d.has(p, m) {
				part, _ := slices.BinarySearch(classes, d.classOf[d.nodes[p.group][m]])
				k.has[part]++
			}
		}
		t.decks = append(t.decks, k)
	}
	t.deal()
	for i, pool := range block {
		d.parts[pool] = make(map[int]int, len(classes))
		for part, class := range classes {
			d.parts[pool][class] = int(t.decks[i].gets[part])
		}
	}
}

// toNodes deals the extras of a class to its nodes, and adds them to their shares.
func (d *dealing) toNodes(class int, shares [][]int) {
	nodes := d.classes[class]
	t := table{sizes: make([]int, len(nodes)), seeds: make([]uint64, len(nodes))}
	for part, node := range nodes {
		t.sizes[part], t.seeds[part] = 1, hashText(d.names[node])
	}
	type place struct{ group, member, deck, part int }
	var places []place
	for i, p := range d.pools {
		extras, ok := d.parts[i][class]
		if !ok {
			continue
		}
		k := deck{seed: hashText(d.groups[p.group].Name), extras: extras, has: make([]int32, len(nodes))}
		part := 0
		for _, m := range p.members {
			if d.classOf[d.nodes[p.group][m]] != class {
				continue
			}
			if d.has(p, m) {
				k.has[part] = 1
			}
			places = append(places, place{p.group, m, len(t.decks), part})
			part++
		}
		t.decks = append(t.decks, k)
	}
	if len(t.decks) == 0 {
		return
	}
	t.deal()
	for _, at := range places {
		shares[at.group][at.member] += int(t.decks[at.deck].gets[at.part])
	}
}

// has reports whether a member has more partitions than the least share of its pool.
func (d *dealing) has(p pool, member int) bool {
	g := d.groups[p.group]
	return g.Count[g.Members[member].Name] > p.least
}
