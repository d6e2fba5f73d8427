package history

import (
	"github.com/anishathalye/porcupine"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// leaseOperations returns the operations of the model for one partition: the answers to the
// callers, and the attempts whose answer no caller saw. The server applied each such attempt at
// some time between its sending and the end of its delivery. Attempts that the server did not apply
// are no operations.
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
			if partition != p || w.shared && c.what == release && len(by[c]) == 0 {
				continue // a release may tell of a lease that another process of the owner has released
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
		from: w.earliest(c.began), after: w.earliest(c.began), to: w.latest(c.ended), vague: w.vague(),
	}
	if c.data != nil {
		in.leaves, in.checkpoint = true, string(c.data)
	}
	return in
}

// ghosts returns the attempts of a call that the server applied, and of which the call's answer
// says nothing. applied reports whether the server applied one before the end of the call.
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

// tells reports whether the answer of such a call shows its write.
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
	case c.what == deleteByHand:
		in.what = vanished
	case after == nil:
		in.what = deleted
	case same && (before.text("work") == after.text("work") || c.what == resume):
		return porcupine.Operation{}, false // only the rev changed, or the work so that nothing late is applied
	case c.what == revoke:
		in.what = when(out.owner == "", taken, marked)
	case c.what == transact || c.what == checkpoint:
		in.what, in.leaves, in.checkpoint = ghostWork, true, out.checkpoint
	case out.owner == "" && before == nil:
		in.what = made
	case out.owner == "" && c.what == reap:
		in.what = reaped
	case out.owner == "":
		in.what = freed
	}
	return porcupine.Operation{ClientId: c.node + 1, Input: in, Output: out, Call: ch.sent, Return: ch.done}, true
}

// told returns the answer of a call about one partition, as an operation.
func (w *world) told(c *call, p int, applied bool) (porcupine.Operation, bool) {
	what, out := answer(c, p, applied)
	return porcupine.Operation{ClientId: c.node + 1, Input: w.leaseInput(c, what), Output: out, Call: c.from, Return: c.to}, what != ""
}

// answer reads the answer of a call. applied says that the server applied an attempt that the
// answer does not show. If the answer says nothing about the partition, the step is empty.
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
