package history

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// The drain of a node is a register: Members returns the value of the last write. A write with an
// answer took effect before its answer. For a write without one, the notes show whether and when it
// took effect.

// drain drains a node, or undrains it.
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
	on    bool // the value that it writes
}

// drainModel returns the model for one node. The output of an operation is the value that it read.
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

// drained returns the nodes in calls to Drain and Undrain, in order.
func (w *world) drained() []string {
	names := make(map[string]bool)
	for _, c := range w.calls {
		if c.what == drain || c.what == undrain {
			names[c.owner] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// drainOperations returns the writes and reads of a node's drain.
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

// unheardDrains returns the writes whose answer no caller saw. These are all writes of a call
// without an answer, and all but one of a call with an answer.
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

// inspectDrain expects three things. A row says what the call that wrote it asked for. A call that
// succeeded has written the row. No other call changes whether a node is drained.
func (w *world) inspectDrain(line timeline, name string) {
	wrote := make(map[*call]bool)
	for _, ch := range line {
		on := ch.after.number("drained") > 0
		switch ask := ch.call.what == drain || ch.call.what == undrain; {
		case ask && (ch.call.owner != name || ch.after == nil || on != (ch.call.what == drain)):
			w.problem("the row of %s does not say what the call asked for: %v", name, ch)
		case !ask && (on || ch.before.number("drained") > 0):
			w.problem("a call other than Drain and Undrain changed the drain of a node: %v", ch)
		}
		wrote[ch.call] = wrote[ch.call] || ch.seq < ch.call.to
	}
	for _, c := range w.calls {
		if (c.what == drain || c.what == undrain) && c.owner == name && c.yes && !wrote[c] {
			w.problem("the call succeeded, and it wrote nothing: %v", c)
		}
	}
}
