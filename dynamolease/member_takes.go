package dynamolease

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Takes says which partitions of a group a node takes.
type Takes struct {
	// Partitions is how many partitions the group has, as the node knows it: it takes 0 to
	// Partitions-1. At least 1.
	Partitions int

	// Except are those of them that the node does not take: runs of partitions, the first and the
	// last of each, in order and apart.
	Except [][2]int
}

// maxTakesText is how many bytes of a member's row may say what the node takes. Every node reads
// that in every round.
const maxTakesText = 16 << 10

// checkTakes accepts what the text of a row can say.
func checkTakes(argument string, groups []string, takes map[string]Takes) error {
	for group, t := range takes {
		field := fmt.Sprintf("%s[%q]", argument, group)
		if !slices.Contains(groups, group) {
			return &ArgumentError{field, "is not one of the groups of the node"}
		}
		if t.Partitions < 1 || int64(t.Partitions) > maxPartition {
			return &ArgumentError{field + ".Partitions", fmt.Sprintf("%d is out of range, 1 to %d are allowed", t.Partitions, int64(maxPartition))}
		}
		next := 0
		for _, run := range t.Except {
			if run[0] < next || run[1] < run[0] || run[1] >= t.Partitions {
				return &ArgumentError{field + ".Except", fmt.Sprintf("%v is not a run after those before it, of the %d partitions", run, t.Partitions)}
			}
			next = run[1] + 1
		}
	}
	if n := len(takesText(sortedSet(groups), takes)); n > maxTakesText {
		return &ArgumentError{argument, fmt.Sprintf("takes %d bytes of the member's row, at most %d are allowed", n, maxTakesText)}
	}
	return nil
}

// takesText returns what a node takes of its groups, as its row says it: for each group, in their
// order, the number of partitions, and after '!' the runs of those that it does not take. "?" is a
// group of which it says nothing, and "*n" stands after what n groups have in common, so that a hundred
// groups of one size take a few bytes. It is empty where the node says nothing at all.
func takesText(groups []string, takes map[string]Takes) string {
	if len(takes) == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(groups); {
		text, n := takesOf(takes, groups[i]), 1
		for i+n < len(groups) && takesOf(takes, groups[i+n]) == text {
			n++
		}
		i += n
		if n > 1 {
			text += "*" + strconv.Itoa(n)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func takesOf(takes map[string]Takes, group string) string {
	t, ok := takes[group]
	if !ok {
		return "?"
	}
	text := strconv.Itoa(t.Partitions)
	for i, run := range t.Except {
		text += []string{"!", ","}[min(i, 1)] + strconv.Itoa(run[0])
		if run[1] > run[0] {
			text += "-" + strconv.Itoa(run[1])
		}
	}
	return text
}

// parseTakes returns what the text of a row says. Text of any other kind, which a later version may
// write, says nothing.
func parseTakes(groups []string, text string) map[string]Takes {
	if text == "" {
		return nil
	}
	takes := make(map[string]Takes, len(groups))
	rest := groups
	for part := range strings.SplitSeq(text, " ") {
		one, times, repeated := strings.Cut(part, "*")
		n := 1
		if repeated {
			n = number(times)
		}
		t, ok := parseTakesOf(one)
		if !ok || n < 1 || n > len(rest) {
			return nil
		}
		for _, group := range rest[:n] {
			if one != "?" {
				takes[group] = t
			}
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return nil
	}
	return takes
}

func parseTakesOf(text string) (t Takes, ok bool) {
	if text == "?" {
		return t, true
	}
	partitions, runs, except := strings.Cut(text, "!")
	t.Partitions = number(partitions)
	for except {
		var run string
		run, runs, except = strings.Cut(runs, ",")
		first, last, more := strings.Cut(run, "-")
		if !more {
			last = first
		}
		next := 0
		if n := len(t.Except); n > 0 {
			next = t.Except[n-1][1] + 1
		}
		r := [2]int{number(first), number(last)}
		if r[0] < next || r[1] < r[0] || r[1] >= t.Partitions {
			return t, false
		}
		t.Except = append(t.Except, r)
	}
	return t, t.Partitions > 0
}

// number returns a number that a row can hold, and -1 for anything else.
func number(text string) int {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxPartition || text[0] == '+' {
		return -1
	}
	return int(n)
}
