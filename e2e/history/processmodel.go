package history

import (
	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
)

// A headState is the head of the identity between two operations.
type headState struct {
	owner    string // empty before the first boot
	term     int64
	seq      int64
	resigned bool
	written  int64 // the store's time of the last write of the head, in milliseconds
}

// A headInput is an operation on the head, or a question about it.
type headInput struct {
	what  headStep
	owner string // the boot that the question is about
	at    int64  // the store's time of a write, in milliseconds
}

type headStep string

const (
	wrote     headStep = "wrote"      // a call wrote the head in the output
	saw       headStep = "saw"        // a call read the head in the output
	sawNone   headStep = "saw none"   // a call found no head
	isCurrent headStep = "is current" // the boot has the identity
	isNot     headStep = "is not"     // the boot does not have the identity, or has resigned
)

// headModel returns the model of one identity. The seq grows by one with every write, and the term
// with every owner. The identity goes to another owner only if nobody wrote the head for a whole
// ttl, or if the owner resigned.
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

// rounding is how much shorter an observation can look because times are in milliseconds.
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

// headOperations returns the operations of the model of the identity: each write of the head that
// the server applied, with or without an answer, and the answers to callers.
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

// questions returns the questions that the answer of a call settles.
func questions(c *call) []headInput {
	in := headInput{what: saw, owner: c.boot.owner.String()}
	if c.err != nil || c.boot.owner == uuid.Nil {
		return nil
	}
	switch c.what {
	case tryAcquire, acquireBoot, observeRival:
	case tryTakeover:
		if !c.asked() { // too early: it returns the earlier observation
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
