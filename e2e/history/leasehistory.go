package history

import (
	"github.com/anishathalye/porcupine"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// leaseOperations are what happened to one partition, as operations of the machine: what the callers were told, and the
// attempts that no caller heard of. Those are known to have been applied, at some time between their sending and the
// end of their delivery; one that the server never applied was none.
func (w *world) leaseOperations(p int) []porcupine.Operation {
	k := leaseRowKey(group, p)
	by := make(map[*call][]*change)
	for _, c := range w.db.changes {
		if c.key == k {
			by[c.call] = append(by[c.call], c)
		}
	}
	var list []porcupine.Operation
	for _, c := range w.calls {
		ghosts, applied := w.ghosts(c, by[c])
		list = append(list, ghosts...)
		for _, partition := range c.partitions {
			if partition != p {
				continue
			}
			if op, ok := w.told(c, p, applied); ok {
				list = append(list, op)
			}
		}
	}
	return list
}

func (w *world) leaseInput(c *call, what leaseStep) leaseInput {
	in := leaseInput{
		what: what, owner: c.owner, session: c.session, epoch: c.under.Epoch, ttl: c.ttl.Milliseconds(),
		from: w.earliest(c.began), after: w.earliest(c.began), to: w.latest(c.ended), vague: w.lying,
	}
	if c.data != nil {
		in.leaves, in.checkpoint = true, string(c.data)
	}
	return in
}

// ghosts are the attempts of a call that were applied without the call's answer telling of them. applied says whether there
// was one by the end of the call.
func (w *world) ghosts(c *call, changes []*change) (list []porcupine.Operation, applied bool) {
	for i, ch := range changes {
		own := c.yes && ch.answered && ch.done < c.to && tells(c.what) && i == len(changes)-1
		if own {
			continue
		}
		op, ok := w.ghost(c, ch)
		if !ok {
			continue
		}
		list = append(list, op)
		applied = applied || ch.seq < c.to
	}
	return list, applied
}

// tells tells whether the answer of such a call says what it has written.
func tells(what kind) bool {
	switch what {
	case acquire, acquireAll, acquireSession, renew, release, releaseSession, transact, checkpoint:
		return true
	}
	return false
}

func (w *world) ghost(c *call, ch *change) (porcupine.Operation, bool) {
	before, after := ch.before, ch.after
	in := w.leaseInput(c, acquired)
	in.after, in.to = w.earliest(ch.at), w.latest(ch.at)
	out := leaseOutput{
		owner: after.text("owner"), session: after.text("session"), epoch: after.number("epoch"), exp: after.number("exp"),
		checkpoint: after.checkpoint(), revoked: after.number("revoked") > 0, unheard: true,
	}
	same := before != nil && after != nil && out.holder() == [2]string{before.text("owner"), before.text("session")} &&
		out.epoch == before.number("epoch") && out.exp == before.number("exp") && out.checkpoint == before.checkpoint() &&
		out.revoked == (before.number("revoked") > 0)
	switch {
	case after == nil:
		in.what = deleted
	case same && before.text("work") == after.text("work"):
		return porcupine.Operation{}, false // only the rev is another
	case c.what == revoke:
		in.what = when(out.owner == "", taken, marked)
	case c.what == transact || c.what == checkpoint:
		in.what = ghostWork
	case out.owner == "" && before == nil:
		in.what = made
	case out.owner == "":
		in.what = freed
	}
	return porcupine.Operation{ClientId: c.node + 1, Input: in, Output: out, Call: ch.sent, Return: ch.done}, true
}

// told is what the caller of an operation was told about one partition.
func (w *world) told(c *call, p int, applied bool) (porcupine.Operation, bool) {
	what, out := answer(c, p, applied)
	return porcupine.Operation{ClientId: c.node + 1, Input: w.leaseInput(c, what), Output: out, Call: c.from, Return: c.to}, what != ""
}

// answer reads the answer of a call; applied says that an attempt was, of which the answer does not tell. Without an answer
// that tells anything about the partition, the step is empty.
func answer(c *call, p int, applied bool) (leaseStep, leaseOutput) {
	lease, found := c.leases[p]
	out := outputOf(lease)
	if fenced := c.fenced(); fenced != nil && !applied {
		return refused, outputOf(fenced.Holder)
	}
	if c.err != nil {
		return "", out
	}
	switch c.what {
	case acquire, acquireAll, acquireSession:
		return when(c.yes, acquired, when(found, held, "")), out
	case renew:
		return when(found, renewed, leftOut), out
	case release, releaseSession:
		if c.yes {
			return when(applied, "", released), out
		}
		return when(c.over, "", lost), out
	case revoke:
		return when(c.yes, revoked, standing), out
	case owners:
		return when(found, listed, unlisted), out
	case transact, checkpoint:
		return when(applied, "", worked), out
	case resume:
		return resumed, out
	}
	return "", out
}

func when(condition bool, yes, no leaseStep) leaseStep {
	if condition {
		return yes
	}
	return no
}

func outputOf(l dynamolease.Lease) leaseOutput {
	out := leaseOutput{owner: l.Owner, session: l.Session, epoch: l.Epoch, checkpoint: string(l.Checkpoint)}
	if !l.ExpiresAt.IsZero() {
		out.exp = l.ExpiresAt.UnixMilli()
	}
	return out
}
