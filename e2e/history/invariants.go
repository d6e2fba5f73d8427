package history

import (
	"fmt"
	"slices"
)

// inspect checks the invariants that hold for any order of the calls.
func (w *world) inspect() {
	w.problems = append(w.problems, w.db.faults...)
	lines := w.db.timelines()
	for p := range partitions {
		w.inspectLease(lines, p)
		w.inspectCheckpoint(lines[leaseRowKey(group, p)])
		w.inspectWork(p)
	}
	for k, line := range lines {
		if k.pk == "M#"+service {
			w.inspectSession(lines, line)
			w.inspectOrders(line)
		}
	}
	for _, c := range w.calls {
		w.inspectTruth(c)
		w.inspectLoss(lines, c)
		w.inspectMembers(lines, c)
	}
	for _, name := range w.drained() {
		w.inspectDrain(lines[drainKey(name)], name)
	}
	w.inspectTakeovers()
}

// inspectLease expects that epochs only grow, and that each holder has another one. It expects that
// a node takes only leases that are over. It expects that only the holder releases a lease and
// works under it.
func (w *world) inspectLease(lines map[rowKey]timeline, p int) {
	highest := int64(0)
	for _, ch := range lines[leaseRowKey(group, p)] {
		before, after := ch.before, ch.after
		epoch := after.number("epoch")
		moved := after.text("owner") != before.text("owner") || after.text("session") != before.text("session")
		was := before.text("owner") != ""
		switch {
		case after == nil && was && !w.over(lines, ch) && ch.call.what != deleteByHand:
			w.problem("a call deleted a live lease: %v", ch)
		case after == nil:
			continue
		case epoch < highest, epoch == highest && moved && after.text("owner") != "":
			w.problem("the epoch went from %d to %d: %v", highest, epoch, ch)
		case moved && was && after.text("owner") != "" && !w.over(lines, ch):
			w.problem("a call took a live lease: %v", ch)
		case ch.call.what == revoke:
			w.inspectRevocation(lines, ch)
		case was && !moved && epoch == before.number("epoch") && before.number("revoked") > 0 && (after.number("revoked") == 0 || after.number("exp") > before.number("exp")):
			w.problem("a call extended a revoked lease: %v", ch)
		case ch.call.what == reap && moved && after.text("owner") == "" && epoch == before.number("epoch") && w.over(lines, ch):
		case moved && was && after.text("owner") == "" && before.text("owner") != ch.call.owner:
			w.problem("a call freed the lease of another owner: %v", ch)
		case after.text("owner") != "" && moved && after.text("owner") != ch.call.owner:
			w.problem("a call acquired the lease for another owner: %v", ch)
		case fenced(ch) && string(ch.call.under.Checkpoint) != before.checkpoint():
			w.problem("a call built fenced work on the checkpoint %q, and another stood there: %v", ch.call.under.Checkpoint, ch)
		case after.text("work") != before.text("work") && before != nil && (!was || before.text("owner") != ch.call.owner || before.number("epoch") != ch.call.under.Epoch):
			w.problem("a call did fenced work without holding the lease: %v", ch)
		}
		highest = max(highest, epoch)
	}
}

// inspectCheckpoint expects that a lease with a checkpoint keeps it until its holder removes it, and
// that the row is not dated as long.
func (w *world) inspectCheckpoint(line timeline) {
	for _, ch := range line {
		removes := ch.call.what == checkpoint && len(ch.call.data) == 0 || ch.call.what == deleteByHand
		switch {
		case ch.before.checkpoint() != "" && ch.after.checkpoint() == "" && !removes:
			w.problem("a lease lost its checkpoint: %v", ch)
		case ch.after.checkpoint() != "" && ch.after.number("ttl") > 0:
			w.problem("a row with a checkpoint is dated: %v", ch)
		}
	}
}

// fenced reports whether a change is fenced work of a call.
func fenced(ch *change) bool {
	return (ch.call.what == transact || ch.call.what == checkpoint) && ch.before != nil && ch.after.text("work") != ch.before.text("work")
}

// over reports whether the lease before a change was over at the time of the change.
func (w *world) over(lines map[rowKey]timeline, ch *change) bool {
	exp := ch.before.number("exp")
	if session := ch.before.session(); session != (rowKey{}) {
		exp = lines[session].at(ch.seq).number("exp") // 0 for a row that does not exist, 1 for a closed session
	}
	return exp <= w.latest(ch.at)
}

// inspectSession expects that a session that is over stays so, and that others close only a session
// whose row has expired or has stayed as it is for the session's ttl. It also expects that a session
// is over if another owner took a lease from it.
func (w *world) inspectSession(lines map[rowKey]timeline, line timeline) {
	for i, ch := range line {
		before, after := ch.before.number("exp"), ch.after.number("exp")
		own := ch.call.what == closeSession || ch.after.text("address") == "-" // an opening without an answer is undone
		if ch.closes() && !own && newExtension(line[i-1].at.UnixMilli(), ch.before).end() > w.latest(ch.at) {
			w.problem("a call closed a session whose heartbeat had landed before: %v", ch)
		}
		if ch.after.text("session") == "" || ch.before == nil || after <= before {
			continue
		}
		if before == 1 || !w.vague() && before <= w.earliest(ch.at)-uncertainty-latest.Milliseconds() {
			w.problem("a call extended a session that was over: %v", ch)
		}
		for p := range partitions {
			for _, taken := range lines[leaseRowKey(group, p)] {
				if taken.seq < ch.sent && taken.before.session() == ch.key && taken.after.text("owner") != "" && taken.after.session() != ch.key {
					w.problem("another owner took a lease, and its session sent a successful heartbeat after that: %v, then %v", taken, ch)
				}
			}
		}
	}
}

// inspectWork expects that each line of work has each item once, without a gap, in the order of the
// epochs.
func (w *world) inspectWork(p int) {
	type item struct{ done, times, epoch int64 }
	works := make(map[int64][]item)
	for k, r := range w.db.rows {
		var line, done int64
		if n, _ := fmt.Sscanf(k.sk, "%d#%d", &line, &done); k.pk != fmt.Sprint("W#", p) || n != 2 {
			continue
		}
		works[line] = append(works[line], item{done, r.number("times"), r.number("epoch")})
	}
	for line, items := range works {
		slices.SortFunc(items, func(a, b item) int { return int(a.done - b.done) })
		last := int64(0)
		for i, it := range items {
			if it.done != int64(i+1) || it.times != 1 || it.epoch < last {
				w.problem("item %d of line %d of partition %d: number %d, done %d times, by epoch %d after %d", i+1, line, p, it.done, it.times, it.epoch, last)
			}
			last = it.epoch
		}
	}
}

// inspectTakeovers expects that a takeover of the identity writes its evidence in the same
// transaction.
func (w *world) inspectTakeovers() {
	with := make(map[*delivery][]string)
	for _, ch := range w.db.changes {
		if ch.key.pk == "P#"+identity && ch.before == nil {
			with[ch.delivery] = append(with[ch.delivery], ch.key.sk[:2])
		}
	}
	for _, ch := range w.db.changes {
		if ch.key.pk != "P#"+identity || ch.key.sk != "HEAD" || ch.before == nil || ch.before.text("owner") == ch.after.text("owner") {
			continue
		}
		evidence := with[ch.delivery]
		slices.Sort(evidence)
		if !slices.Equal(evidence, []string{"F#", "T#"}) {
			w.problem("a takeover wrote the evidence %v: %v", evidence, ch)
		}
	}
}
