package history

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Whether a node is drained is a register: what Members says is what was written last. A write that was answered took
// effect before its answer; of one that was not it is known whether and when it did, if at all.

// drain drains a node, or ends that.
func (n *node) drain(p plan) {
	life, store, _ := n.process()
	c := &call{what: drain, owner: fmt.Sprint("n", p.partition)}
	if p.coin < 50 {
		c.what = undrain
	}
	n.do(c, life, p.patience, func(ctx context.Context) {
		if c.what == drain {
			c.err = store.Drain(ctx, service, c.owner)
		} else {
			c.err = store.Undrain(ctx, service, c.owner)
		}
		c.yes = c.err == nil
	})
}

// A drainInput is one operation on a register.
type drainInput struct {
	write bool
	on    bool // what is written
}

// drainModel is the machine for one node; the output is what was read.
func drainModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return false },
		Step: func(state, input, output any) (bool, any) {
			if in := input.(drainInput); in.write {
				return true, in.on
			}
			return state == output, state
		},
		DescribeOperation: func(input, output any) string {
			if in := input.(drainInput); in.write {
				return fmt.Sprint("drained becomes ", in.on)
			}
			return fmt.Sprint("drained is ", output)
		},
		DescribeState: func(state any) string { return fmt.Sprint("drained: ", state) },
	}
}

func drainKey(name string) rowKey { return rowKey{"M#" + service, "D#" + name} }

// drained are the nodes of which anybody asked that, in order.
func (w *world) drained() []string {
	names := make(map[string]bool)
	for _, c := range w.calls {
		if c.what == drain || c.what == undrain {
			names[c.owner] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// drainOperations are what was written about a node, and what Members said of it.
func (w *world) drainOperations(name string) []porcupine.Operation {
	var list []porcupine.Operation
	for _, c := range w.calls {
		switch {
		case c.what == members && c.err == nil:
			for _, m := range c.members {
				if m.Node == name {
					list = append(list, porcupine.Operation{ClientId: c.node + 1, Input: drainInput{}, Output: m.Drained, Call: c.from, Return: c.to})
				}
			}
		case (c.what == drain || c.what == undrain) && c.owner == name && c.yes:
			list = append(list, porcupine.Operation{ClientId: c.node + 1, Input: drainInput{true, c.what == drain}, Call: c.from, Return: c.to})
		}
	}
	return append(list, w.unheardDrains(name)...)
}

// unheardDrains are the writes that no caller heard of: all of a call that ended without an answer, and all but one of
// one that has one.
func (w *world) unheardDrains(name string) (list []porcupine.Operation) {
	told := make(map[*call]bool)
	for _, ch := range w.db.changes {
		on := ch.after.number("drained") > 0
		if ch.key != drainKey(name) || ch.after == nil {
			continue
		}
		if ch.call.yes && ch.seq < ch.call.to && !told[ch.call] {
			told[ch.call] = true
			continue
		}
		list = append(list, porcupine.Operation{ClientId: ch.call.node + 1, Input: drainInput{true, on}, Call: ch.sent, Return: ch.done})
	}
	return list
}

// inspectDrain expects that a row says what the call that wrote it asked for, that an answered call has written it, and
// that nothing but such a call ends what one began.
func (w *world) inspectDrain(line timeline, name string) {
	wrote := make(map[*call]bool)
	for _, ch := range line {
		on := ch.after.number("drained") > 0
		switch ask := ch.call.what == drain || ch.call.what == undrain; {
		case ask && (ch.call.owner != name || ch.after == nil || on != (ch.call.what == drain)):
			w.problem("%s was to be drained or not, and is otherwise: %v", name, ch)
		case !ask && (on || ch.before.number("drained") > 0):
			w.problem("drained, or not any more, by nobody: %v", ch)
		}
		wrote[ch.call] = wrote[ch.call] || ch.seq < ch.call.to
	}
	for _, c := range w.calls {
		if (c.what == drain || c.what == undrain) && c.owner == name && c.yes && !wrote[c] {
			w.problem("the caller was told that it is done, and nothing was written: %v", c)
		}
	}
}
