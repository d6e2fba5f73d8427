package coordinator

import (
	"hash/fnv"
	"math"
)

// A chooser assigns each partition to one of several nodes, so that a change of the nodes moves few assignments
// (rendezvous hashing). The nodes are put into about sqrt(n) drawers; a partition chooses a drawer, and then a node in
// it. So a choice among 1,000 nodes looks at some 64 of them.
type chooser struct {
	drawers []drawer
}

type drawer struct {
	hash  uint64
	nodes []hashedNode
}

type hashedNode struct {
	hash  uint64
	index int
}

func newChooser(nodes []string) chooser {
	size := max(1, int(math.Sqrt(float64(len(nodes)))))
	// The number of drawers is a power of two, so that it changes rarely: when it does, all choices do.
	n := 1
	for n < size {
		n *= 2
	}
	all := make([]drawer, n)
	for i, name := range nodes {
		h := hashText(name)
		all[h%uint64(n)].nodes = append(all[h%uint64(n)].nodes, hashedNode{h, i})
	}
	var c chooser
	for i, d := range all {
		if len(d.nodes) > 0 {
			d.hash = mix(uint64(i) + 1)
			c.drawers = append(c.drawers, d)
		}
	}
	return c
}

// choose is the index of the node to which a partition falls. There must be one.
func (c chooser) choose(partition int) int {
	var best *drawer
	var high uint64
	for i := range c.drawers {
		if s := score(c.drawers[i].hash, partition); best == nil || s > high {
			best, high = &c.drawers[i], s
		}
	}
	chosen := -1
	for _, node := range best.nodes {
		if s := score(node.hash, partition); chosen < 0 || s > high {
			chosen, high = node.index, s
		}
	}
	return chosen
}

// score is how much a node, by its hash, is drawn to a partition.
func score(node uint64, partition int) uint64 {
	return mix(node ^ mix(uint64(partition)+0x9e3779b97f4a7c15))
}

func hashText(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return mix(h.Sum64())
}

// mix spreads the bits of x over the whole word (the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
