package watch

// numbers remembers the number of each node that was ever listed, so that a node that goes does not
// change the marks of the others.
type numbers map[string]int

// number gives each member its number: the one that it had, or an unused one. When the marks run
// out, nodes that are gone lose theirs.
func (n numbers) number(list []member) {
	listed := make(map[string]bool, len(list))
	for _, m := range list {
		listed[m.Node] = true
	}
	for i := range list {
		number, ok := n[list[i].Node]
		if !ok {
			number = n.free(listed)
			n[list[i].Node] = number
		}
		list[i].number = number
	}
}

func (n numbers) free(listed map[string]bool) int {
	if len(n) >= len(marks) {
		for node := range n {
			if !listed[node] {
				delete(n, node)
			}
		}
	}
	used := make(map[int]bool, len(n))
	for _, number := range n {
		used[number] = true
	}
	for number := 0; ; number++ {
		if !used[number] {
			return number
		}
	}
}
