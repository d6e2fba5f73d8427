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

// next returns when the next look is, and whether that is a round. One that comes less than minLook
// before the round is the round.
func (p *pace) next() (at time.Time, round bool) {
	if p.early.IsZero() {
		return p.round, true
	}
	at = later(p.early, p.latest.Add(minLook))
	if at.After(p.round) {
		at = p.round
	}
	return at, at.Add(minLook).After(p.round)
}

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
