package plan

import (
	"hash/fnv"
	"math"
)

// A chooser assigns each partition to one of several nodes by rendezvous hashing, so that a change
// of the nodes moves few assignments. The nodes are spread over about sqrt(n) buckets; a partition
// chooses a bucket, and then a node in it. So a choice among 1,000 nodes looks at some 64 of them.
type chooser struct {
	buckets []bucket
}

type bucket struct {
	hash  uint64
	nodes []hashedNode
}

type hashedNode struct {
	hash  uint64
	index int
}

func newChooser(nodes []string) chooser {
	size := max(1, int(math.Sqrt(float64(len(nodes)))))
	// The number of buckets is a power of two, so that it changes rarely: a change moves all
	// choices.
	n := 1
	for n < size {
		n *= 2
	}
	all := make([]bucket, n)
	for i, name := range nodes {
		h := hashText(name)
		all[h%uint64(n)].nodes = append(all[h%uint64(n)].nodes, hashedNode{h, i})
	}
	var c chooser
	for i, b := range all {
		if len(b.nodes) > 0 {
			b.hash = mix(uint64(i) + 1)
			c.buckets = append(c.buckets, b)
		}
	}
	return c
}

// choose returns the index of the node that a partition is assigned to. There must be a node.
func (c chooser) choose(partition int) int {
	var best *bucket
	var high uint64
	for i := range c.buckets {
		if s := score(c.buckets[i].hash, partition); best == nil || s > high {
			best, high = &c.buckets[i], s
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

// Score returns how strongly hashing draws a name to a number. Scores are spread evenly.
func Score(name string, number int) uint64 { return score(hashText(name), number) }

// score returns how strongly a node, by its hash, is drawn to a partition.
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
