package history

import (
	"fmt"
	"slices"
)

// inspect checks what must hold whatever the order of the calls was.
func (w *world) inspect() {
	w.problems = append(w.problems, w.db.faults...)
	lines := w.db.timelines()
	for p := range partitions {
		w.inspectLease(lines, p)
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

// inspectLease expects that epochs only grow, one for each holder, that what is taken was over, and that nobody but the
// holder gives up or works.
func (w *world) inspectLease(lines map[rowKey]timeline, p int) {
	highest := int64(0)
	for _, ch := range lines[leaseRowKey(group, p)] {
		before, after := ch.before, ch.after
		epoch := after.number("epoch")
		moved := after.text("owner") != before.text("owner") || after.text("session") != before.text("session")
		was := before.text("owner") != ""
		switch {
		case after == nil && was && !w.over(lines, ch):
			w.problem("a live lease was deleted: %v", ch)
		case after == nil:
			continue
		case epoch < highest, epoch == highest && moved && after.text("owner") != "":
			w.problem("the epoch went from %d to %d: %v", highest, epoch, ch)
		case moved && was && after.text("owner") != "" && !w.over(lines, ch):
			w.problem("a live lease was taken: %v", ch)
		case ch.call.what == revoke:
			w.inspectRevocation(lines, ch)
		case was && !moved && epoch == before.number("epoch") && before.number("revoked") > 0 && (after.number("revoked") == 0 || after.number("exp") > before.number("exp")):
			w.problem("a revoked lease was extended: %v", ch)
		case moved && was && after.text("owner") == "" && before.text("owner") != ch.call.owner:
			w.problem("a lease was freed by another: %v", ch)
		case after.text("owner") != "" && moved && after.text("owner") != ch.call.owner:
			w.problem("acquired for another: %v", ch)
		case after.text("work") != before.text("work") && before != nil && (!was || before.text("owner") != ch.call.owner || before.number("epoch") != ch.call.under.Epoch):
			w.problem("worked by one who does not hold the lease: %v", ch)
		}
		highest = max(highest, epoch)
	}
}

// over tells whether the lease that a change found was over by then.
func (w *world) over(lines map[rowKey]timeline, ch *change) bool {
	exp := ch.before.number("exp")
	if session := ch.before.session(); session != (rowKey{}) {
		exp = lines[session].at(ch.seq).number("exp") // of a row that is gone 0, of a closed session 1
	}
	return exp <= w.latest(ch.at)
}

// inspectSession expects that a session which was over stays so, and that one from which a lease was taken is over.
func (w *world) inspectSession(lines map[rowKey]timeline, line timeline) {
	for _, ch := range line {
		before, after := ch.before.number("exp"), ch.after.number("exp")
		if ch.after.text("session") == "" || ch.before == nil || after <= before {
			continue
		}
		if before == 1 || !w.lying && before <= w.earliest(ch.at)-doubt-latest.Milliseconds() {
			w.problem("a session that was over was extended: %v", ch)
		}
		for p := range partitions {
			for _, taken := range lines[leaseRowKey(group, p)] {
				if taken.seq < ch.sent && taken.before.session() == ch.key && taken.after.text("owner") != "" && taken.after.session() != ch.key {
					w.problem("a heartbeat was sent and applied after a lease was taken from its session: %v, then %v", taken, ch)
				}
			}
		}
	}
}

// inspectWork expects that the items of each line of work are there once each, without a gap, in the order of the epochs.
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

// inspectTakeovers expects that a takeover of the identity comes with its evidence, in one write.
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
			w.problem("taken over with the evidence %v: %v", evidence, ch)
		}
	}
}
