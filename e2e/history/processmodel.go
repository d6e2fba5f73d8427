package history

import (
	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
)

// A headState is who has the identity, between two operations.
type headState struct {
	owner    string // empty before the first boot
	term     int64
	seq      int64
	resigned bool
	written  int64 // the store's time in milliseconds when the head was last written
}

// A headInput is an operation on the head, or a question about it.
type headInput struct {
	what  headStep
	owner string // who is asked about
	at    int64  // the store's time in milliseconds of a write
}

type headStep string

const (
	wrote     headStep = "wrote"      // the head, as it is in the output
	saw       headStep = "saw"        // the head, as it is in the output
	sawNone   headStep = "saw none"   //
	isCurrent headStep = "is current" //
	isNot     headStep = "is not"     // the current boot, or has resigned
)

// headModel is the machine of one identity: seq grows by one at every write, term with every owner, and only a head that
// was left alone for a whole ttl, or given up, goes to another.
func headModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return headState{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.(headState), input.(headInput), output.(headState)
			switch in.what {
			case wrote:
				out.written = in.at
				return s.leadsTo(out), out
			case saw:
				s.written = out.written
				return s == out, state
			case sawNone:
				return s == headState{}, state
			case isCurrent:
				return s.owner == in.owner && !s.resigned, state
			default:
				return s.owner != in.owner || s.resigned, state
			}
		},
		DescribeOperation: func(input, output any) string { return labelled(input) + " -> " + labelled(output) },
		DescribeState:     func(state any) string { return labelled(state) },
	}
}

// rounding is by how much times in milliseconds can make an observation look too short.
const rounding = 2

func (s headState) leadsTo(next headState) bool {
	switch {
	case s.owner == "":
		return next.term == 1 && next.seq == 1 && !next.resigned
	case next.seq != s.seq+1:
		return false
	case next.owner == s.owner:
		return next.term == s.term && !s.resigned
	default:
		return next.term == s.term+1 && !next.resigned && (s.resigned || next.written-s.written >= bootTTL.Milliseconds()-rounding)
	}
}

func headOf(r row) headState {
	return headState{owner: r.text("owner"), term: r.number("term"), seq: r.number("seq"), resigned: r.flag("resigned")}
}

// headOperations are what happened to the identity, as operations of the machine: each write of the head as the server
// applied it, whoever heard of it, and what callers were told.
func (w *world) headOperations() []porcupine.Operation {
	var list []porcupine.Operation
	for _, ch := range w.db.changes {
		if ch.key == (rowKey{"P#" + identity, "HEAD"}) {
			in := headInput{what: wrote, at: ch.at.UnixMilli()}
			list = append(list, porcupine.Operation{ClientId: ch.call.node, Input: in, Output: headOf(ch.after), Call: ch.sent, Return: ch.done})
		}
	}
	for _, c := range w.calls {
		for _, in := range questions(c) {
			l := c.boot.lease
			out := headState{owner: l.Owner.String(), term: int64(l.Term), seq: int64(l.Seq), resigned: l.Resigned}
			list = append(list, porcupine.Operation{ClientId: c.node, Input: in, Output: out, Call: c.from, Return: c.to})
		}
	}
	for i := range list {
		list[i].ClientId %= 100 // boots count from a thousand
	}
	return list
}

// questions are those that a call has answered.
func questions(c *call) []headInput {
	in := headInput{what: saw, owner: c.boot.owner.String()}
	if c.err != nil || c.boot.owner == uuid.Nil {
		return nil
	}
	switch c.what {
	case tryAcquire, acquireBoot, observeRival:
	case tryTakeover:
		if !c.asked() { // too early: it tells what was observed
			return nil
		}
	case load:
		if !c.boot.acquired {
			in.what = sawNone
		}
	case verifyCurrent:
		in.what = isNot
		if c.boot.acquired {
			in.what = isCurrent
		}
	case fence, verifyFence:
		in.what = isNot
		if c.what == verifyFence && !c.boot.acquired {
			in.what = isCurrent
		}
	default:
		return nil
	}
	return []headInput{in}
}
