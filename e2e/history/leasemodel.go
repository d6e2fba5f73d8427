package history

import "github.com/anishathalye/porcupine"

// What a lease is, to who uses it: what the design promises of one partition, told as a sequential machine. Time is an
// input of each operation: the store's time, in milliseconds, before the call began and after it had ended.

// A leaseState is one partition between two operations.
type leaseState struct {
	exists     bool
	owner      string // empty while nobody holds it
	session    string // it lives as long as this one; empty for a lease with an expiry of its own
	epoch      int64
	exp        int64
	promised   int64 // the latest expiry that the holder was told
	checkpoint string
	revoked    bool // nothing extends it any more
	leavers    leavers

	highest int64 // of all epochs that the partition ever had
	time    int64 // the store's time is not before this one any more
}

// A leaseInput is what is asked, by whom and when.
type leaseInput struct {
	what       leaseStep
	owner      string
	session    string
	epoch      int64 // of the lease that fenced work is done under, or that is to be revoked
	ttl        int64
	checkpoint string // that fenced work leaves
	leaves     bool   // it leaves one
	from       int64  // the store's time when the call began
	after, to  int64  // what was done was done between these times
	vague      bool   // some dates were false, so nothing bounds how late a lease is found expired
}

// A leaseOutput is the lease as it was told to the caller or, of an attempt that no caller heard of, as it was written.
type leaseOutput struct {
	owner      string
	session    string
	epoch      int64
	exp        int64
	checkpoint string
	revoked    bool // of what was written
	unheard    bool // no caller was told
}

func (o leaseOutput) holder() [2]string { return [2]string{o.owner, o.session} }

// doubt is how much later than it expired a lease is still taken for live: slack, the whole second of a Date, an answer
// that took two seconds, margins.
const doubt = 5000

// leaseModel is the machine for one partition.
func leaseModel(sessions sessions) porcupine.Model {
	m := machine{sessions}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{leaseState{}} },
		Step: func(state, input, output any) []any {
			in, out := input.(leaseInput), output.(leaseOutput)
			s := state.(leaseState)
			s.time = max(s.time, in.after)
			if s.time > in.to {
				return nil
			}
			next, ok := m.step(s, in, out)
			if !ok || next.time > in.to {
				return nil
			}
			return []any{next}
		},
		Equal: func(a, b any) bool { return a == b },
		DescribeOperation: func(input, output any) string {
			return labelled(input) + " -> " + labelled(output)
		},
		DescribeState: func(state any) string { return labelled(state) },
	}
	return model.ToModel()
}

type machine struct{ sessions sessions }

// mayLive tells whether the lease may be taken for live by who began at in.from.
func (m machine) mayLive(s leaseState, in leaseInput) bool {
	switch {
	case s.owner == "":
		return false
	case in.vague:
		return true
	case s.session == "":
		return s.exp > in.from-doubt
	}
	return m.sessions.live(s.session, in.from, in.to)
}

// mayBeOver tells whether the lease can have expired by the end of the operation. That the time has come to that then is
// part of what follows.
func (m machine) mayBeOver(s leaseState, in leaseInput) (leaseState, bool) {
	over := s.time
	switch {
	case s.owner == "":
	case s.session == "":
		over = max(s.time, s.exp)
	default:
		over = m.sessions.over(s.session, s.time)
	}
	s.time = over
	return s, over <= in.to
}

func (s leaseState) isOf(owner, session string) bool {
	return s.exists && owner != "" && s.owner == owner && s.session == session
}

// matches tells whether the row says what the caller was told.
func (s leaseState) matches(out leaseOutput) bool {
	return s.exists && s.owner == out.owner && s.session == out.session && s.epoch == out.epoch &&
		s.checkpoint == out.checkpoint && (s.session != "" || s.exp == out.exp)
}

func (m machine) step(s leaseState, in leaseInput, out leaseOutput) (leaseState, bool) {
	mine := s.isOf(in.owner, in.session)
	switch in.what {
	case acquired:
		return m.acquire(s, in, out)
	case held:
		return s, (!mine || s.revoked) && s.matches(out) && m.mayLive(s, in)
	case listed:
		return s, s.matches(out) && m.mayLive(s, in)
	case unlisted:
		if !s.exists || s.owner == "" {
			return s, true
		}
		return m.mayBeOver(s, in)
	case renewed:
		return m.extend(s, in, out)
	case lost, leftOut:
		if !mine || in.what == leftOut && s.revoked {
			return s, true
		}
		return m.mayBeOver(s, in)
	case released:
		if mine {
			return s.free(), m.mayLive(s, in)
		}
		return m.toldLate(s, in)
	case freed:
		next := s.free()
		if mine {
			next.leavers = s.leavers.with(in.owner, in.session, s.exp)
		}
		return next, s.exists && s.epoch == out.epoch && (mine || s.owner == "")
	case made:
		return leaseState{exists: true, epoch: out.epoch, highest: out.epoch, time: s.time, leavers: s.leavers}, !s.exists && out.epoch > s.highest
	case marked, taken, standing, revoked:
		return m.revoke(s, in, out)
	case worked, ghostWork:
		if in.leaves {
			s.checkpoint = in.checkpoint
		}
		return s, s.exists && s.owner == in.owner && s.epoch == in.epoch
	case refused:
		gone := !s.exists && out.epoch == 0
		another := s.exists && s.owner == out.owner && s.epoch == out.epoch
		return s, (gone || another) && !(s.owner == in.owner && s.epoch == in.epoch)
	case resumed:
		return s, s.exists && s.owner == in.owner && s.epoch == in.epoch && s.checkpoint == out.checkpoint
	case deleted:
		next, over := m.mayBeOver(s, in)
		return leaseState{highest: s.highest, time: next.time, leavers: s.leavers}, over && s.exists
	}
	return s, false
}

func (s leaseState) free() leaseState {
	s.owner, s.session, s.exp, s.promised, s.revoked = "", "", 0, 0, false
	return s
}

// toldTo is the lease as far as its holder was told of it, for the holder: a late attempt of its own may have extended one
// that it has given up for lost.
func (s leaseState) toldTo(in leaseInput) leaseState {
	if s.isOf(in.owner, in.session) && s.promised > 0 {
		s.exp = min(s.exp, s.promised)
	}
	return s
}

// acquire extends one's own, with its epoch, or takes what is free or over, with the next one. One's own that is over is
// taken like any other's, but for one that nobody was told of: an attempt that came so late that it was over at once has the
// epoch that the next attempt has, too, and no work was done under it.
func (m machine) acquire(s leaseState, in leaseInput, out leaseOutput) (leaseState, bool) {
	if s.isOf(in.owner, in.session) && out.epoch == s.epoch {
		if s.promised == 0 && in.session == "" && !s.revoked && !m.mayLive(s, in) {
			s.exp = out.exp // so that it is extended as if it came just now
		}
		return m.extend(s, in, out)
	}
	s, over := m.mayBeOver(s.toldTo(in), in)
	next := leaseState{
		exists: true, owner: in.owner, session: in.session, epoch: out.epoch, exp: out.exp,
		checkpoint: s.checkpoint, highest: out.epoch, time: s.time, leavers: s.leavers.without(in.owner, in.session),
	}
	if in.session != "" {
		next.exp = 0
	} else if !out.unheard {
		next.promised = out.exp
	}
	follows := out.epoch == s.epoch+1
	if !s.exists {
		follows = out.epoch > s.highest
	}
	return next, over && follows && out.checkpoint == s.checkpoint && m.lasts(in, out)
}

func (m machine) extend(s leaseState, in leaseInput, out leaseOutput) (leaseState, bool) {
	ok := s.isOf(in.owner, in.session) && out.epoch == s.epoch && !s.revoked && m.mayLive(s, in) && out.checkpoint == s.checkpoint
	if in.session != "" {
		return s, ok
	}
	ok = ok && out.exp >= s.promised && m.lasts(in, out)
	s.exp = out.exp
	if !out.unheard {
		s.promised = out.exp
	}
	return s, ok
}

// lasts tells whether a lease is as long as it has to be.
func (m machine) lasts(in leaseInput, out leaseOutput) bool {
	return in.session != "" || out.exp >= in.from+in.ttl
}
