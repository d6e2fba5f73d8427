package coordinator

import "time"

const (
	// minLook is how soon after another look the next one may be, whatever the reason: hints cost ten
	// looks a second at the most.
	minLook = 100 * time.Millisecond

	// waitLook is how often a node looks while others give up what it lacks.
	waitLook = time.Second
)

// A pace says when the planning goroutine looks at the members: each interval, which is a round, and
// in between when there is a reason to. Only the planning goroutine uses it.
type pace struct {
	round  time.Time // when the next round begins
	early  time.Time // when to look before that; zero for no reason
	latest time.Time // look
}

// next returns when the next look is.
func (p *pace) next() time.Time {
	if p.early.IsZero() {
		return p.round
	}
	if at := later(p.early, p.latest.Add(minLook)); at.Before(p.round) {
		return at
	}
	return p.round
}

// isRound reports whether a look that begins now is a round. One that comes less than minLook before
// the round is, so that looks are never closer together than that.
func (p *pace) isRound(now time.Time) bool { return now.Add(minLook).After(p.round) }

// hasten has the next look at a moment, or before.
func (p *pace) hasten(at time.Time) {
	if p.early.IsZero() || at.Before(p.early) {
		p.early = at
	}
}

// looked notes a look that began at a moment.
func (p *pace) looked(at time.Time) { p.latest, p.early = at, time.Time{} }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
