package plan

import (
	"cmp"
	"slices"
)

// A table deals the extras of several decks to the same parts: as evenly over all decks as can be,
// so that as few as possible change hands.
//
// A part of size s is s nodes: it gets at most s extras of each deck, and in total its proportion
// of all extras, rounded down or up. (That is always possible: if one part has more than its
// proportion and another less, there is a deck of which the first can give the second one.)
type table struct {
	sizes []int
	seeds []uint64 // of the parts, by which ties are decided
	decks []deck

	total     []int // extras of each part
	low, high []int // how many each part gets at the least and at the most
}

// A deck is a number of extras. No part has more of them than its size.
type deck struct {
	seed   uint64
	extras int
	has    []int32 // how many each part has by now; together there may be more or less than extras
	gets   []int32 // how many it gets
}

// deal fills in what the parts get.
func (t *table) deal() {
	t.limits()
	t.total = make([]int, len(t.sizes))
	var over, under []*deck
	for i := range t.decks {
		d := &t.decks[i]
		d.gets = make([]int32, len(t.sizes))
		switch sum := sumOf(d.has); {
		case sum > d.extras:
			over = append(over, d)
			continue
		case sum < d.extras:
			under = append(under, d)
		}
		copy(d.gets, d.has)
		for part, n := range d.gets {
			t.total[part] += int(n)
		}
	}
	for _, d := range over {
		t.give(d, d.extras, func(part int) bool { return d.gets[part] < d.has[part] })
	}
	for _, d := range under {
		t.give(d, d.extras-sumOf(d.has), func(part int) bool { return int(d.gets[part]) < t.sizes[part] })
	}
	t.balance()
}

// limits works out low and high.
func (t *table) limits() {
	extras, nodes := 0, 0
	for _, d := range t.decks {
		extras += d.extras
	}
	for _, size := range t.sizes {
		nodes += size
	}
	t.low, t.high = make([]int, len(t.sizes)), make([]int, len(t.sizes))
	for part, size := range t.sizes {
		t.low[part] = extras * size / nodes
		t.high[part] = (extras*size + nodes - 1) / nodes
	}
}

// give gives n extras of a deck to those parts that may have more of them and have the fewest in
// total.
func (t *table) give(d *deck, n int, may func(part int) bool) {
	type candidate struct {
		rank int
		tie  uint64
		part int
	}
	candidates := make([]candidate, 0, len(t.sizes))
	for n > 0 {
		candidates = candidates[:0]
		for part, size := range t.sizes {
			if may(part) {
				candidates = append(candidates, candidate{t.total[part] << 16 / size, mix(t.seeds[part] ^ d.seed), part})
			}
		}
		if n < len(candidates) {
			slices.SortFunc(candidates, func(a, b candidate) int {
				return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.tie, b.tie), cmp.Compare(a.part, b.part))
			})
		}
		for _, c := range candidates[:min(n, len(candidates))] {
			d.gets[c.part]++
			t.total[c.part]++
			n--
		}
		if len(candidates) == 0 {
			return // the parts are full
		}
	}
}

// balance exchanges extras until the totals are between low and high. What was given before keeps as
// much as possible of each deck where it is, and each exchange changes as little as possible.
func (t *table) balance() {
	for {
		from, to, must := t.ends()
		if !must && t.kept() {
			return
		}
		if !newExchange(t, from, to).run(must) {
			return
		}
	}
}

// ends returns how many extras each part should or can give away, and get. must reports whether a
// total is not between low and high.
func (t *table) ends() (from, to []int, must bool) {
	over, under := false, false
	for part, total := range t.total {
		over = over || total > t.high[part]
		under = under || total < t.low[part]
	}
	from, to = make([]int, len(t.total)), make([]int, len(t.total))
	for part, total := range t.total {
		if over {
			from[part] = max(0, total-t.high[part])
		} else {
			from[part] = max(0, total-t.low[part])
		}
		if under {
			to[part] = max(0, t.low[part]-total)
		} else {
			to[part] = max(0, t.high[part]-total)
		}
	}
	return from, to, over || under
}

// kept reports whether no fewer extras could change hands, whatever the totals.
func (t *table) kept() bool {
	for _, d := range t.decks {
		kept := 0
		for part, n := range d.gets {
			kept += int(min(n, d.has[part]))
		}
		if kept < min(sumOf(d.has), d.extras) {
			return false
		}
	}
	return true
}

func sumOf(list []int32) (sum int) {
	for _, n := range list {
		sum += int(n)
	}
	return sum
}
