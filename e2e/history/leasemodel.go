package history

import "github.com/anishathalye/porcupine"

// This file states the promises about one partition as a sequential model. Time is an input of each
// operation: the store's time, in milliseconds, before the call began and after it ended.

// A leaseState is one partition between two operations.
type leaseState struct {
	exists     bool
	owner      string // empty while nobody holds it
	session    string // the lease lives as long as this session; empty for a lease with its own expiry
	epoch      int64
	exp        int64
	promised   int64 // the latest expiry in an answer to the holder
	seen       int64 // until when another call may rely on having seen its row renewed
	checkpoint string
	revoked    bool // no call may extend it any more
	leavers    leavers

	highest int64 // the highest epoch that the partition ever had
	time    int64 // the store's time is not earlier than this
}

// A leaseInput is the input of an operation: the step, its caller, its arguments and its times.
type leaseInput struct {
	what       leaseStep
	owner      string
	session    string
	epoch      int64 // the epoch of the lease of fenced work, or of the lease to revoke
	ttl        int64
	checkpoint string // the checkpoint that fenced work writes
	leaves     bool   // fenced work writes a checkpoint
	from       int64  // the store's time when the call began
	after, to  int64  // the operation took effect between these times
	vague      bool   // some dates were false, so a call may take an expired lease for live at any time
}

// A leaseOutput is the lease in the answer to the caller. For an attempt whose answer no caller
// saw, it is the lease in the row.
type leaseOutput struct {
	owner      string
	session    string
	epoch      int64
	exp        int64
	checkpoint string
	revoked    bool // in the row
	unheard    bool // no caller saw the answer
}

func (o leaseOutput) holder() [2]string { return [2]string{o.owner, o.session} }

// uncertainty is how long after its expiry a call may still take a lease for live. It adds up the
// slack, the whole second of a Date, an answer that took two seconds, and margins.
const uncertainty = 5000

// leaseModel returns the model for one partition.
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

// mayLive reports whether a call that began at in.from may take the lease for live.
func (m machine) mayLive(s leaseState, in leaseInput) bool {
	switch {
	case s.owner == "":
		return false
	case in.vague:
		return true
	case s.session == "":
		return s.exp > in.from-uncertainty
	}
	return m.sessions.live(s.session, in.from, in.to)
}

// mayStand reports whether a call of somebody else may take the lease for live. So it may, after it
// has expired, if the call has seen that its row was renewed: by a request that arrived late.
func (m machine) mayStand(s leaseState, in leaseInput) bool {
	return m.mayLive(s, in) || s.owner != "" && s.session == "" && s.seen > in.from-uncertainty
}

// mayBeOver reports whether the lease can have expired by the end of the operation. In the state
// that it returns, the time has reached the expiry.
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

// matches reports whether the row agrees with the answer to the caller.
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
		return s, (!mine || s.revoked) && s.matches(out) && m.mayStand(s, in)
	case listed:
		return s, s.matches(out) && m.mayLive(s, in)
	case unlisted:
		if !s.exists || s.owner == "" {
			return s, true
		}
		return m.mayBeOver(s, in)
	case renewed:
		out.checkpoint = s.checkpoint // from Renew it is the one that the process knew last
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
		return leaseState{highest: s.highest, time: next.time, leavers: s.leavers}, over && s.exists && s.checkpoint == ""
	case reaped:
		s, over := m.mayBeOver(s, in)
		return s.free(), over && s.exists && s.epoch == out.epoch && s.checkpoint == out.checkpoint
	case vanished:
		next := leaseState{highest: s.highest, time: s.time, leavers: s.leavers}
		if s.owner != "" { // a release of the holder's may tell that the lease is gone as if it had freed it
			next.leavers = s.leavers.with(s.owner, s.session, s.exp)
		}
		return next, s.exists
	}
	return s, false
}

func (s leaseState) free() leaseState {
	s.owner, s.session, s.exp, s.promised, s.seen, s.revoked = "", "", 0, 0, 0, false
	return s
}

// toldTo returns the lease as its holder knows it, if the caller is the holder. A late attempt of
// the holder may have extended a lease that the holder already takes for lost.
func (s leaseState) toldTo(in leaseInput) leaseState {
	if s.isOf(in.owner, in.session) && s.promised > 0 {
		s.exp = min(s.exp, s.promised)
	}
	return s
}

// acquire extends a lease of the caller, under its epoch, or takes a lease that is free or over,
// under the next epoch. The caller takes its own lease in the same way if it is over, with one
// exception: no caller saw an answer about the lease. An attempt may come so late that its lease is
// over at once. The next attempt then has the same epoch, and no work was done under that lease.
func (m machine) acquire(s leaseState, in leaseInput, out leaseOutput) (leaseState, bool) {
	if s.isOf(in.owner, in.session) && out.epoch == s.epoch {
		if s.promised == 0 && in.session == "" && !s.revoked && !m.mayLive(s, in) {
			s.exp = out.exp // so that extend treats it as if it came just now
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
	} else {
		next.seen = in.to + in.ttl/2
		if !out.unheard {
			next.promised = out.exp
		}
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
	s.exp, s.seen = out.exp, in.to+in.ttl/2
	if !out.unheard {
		s.promised = out.exp
	}
	return s, ok
}

// lasts reports whether a lease is long enough.
func (m machine) lasts(in leaseInput, out leaseOutput) bool {
	return in.session != "" || out.exp >= in.from+in.ttl
}
