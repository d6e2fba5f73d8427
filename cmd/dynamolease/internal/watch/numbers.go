package watch

// numbers are those of the nodes that were ever listed. A node that goes must not change what stands for the others.
type numbers map[string]int

// number gives each member its number: the one that it had, or one that no other ever had. When the marks are used up, those of
// nodes that are gone are free again.
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
