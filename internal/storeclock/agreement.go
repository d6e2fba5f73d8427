package storeclock

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

const (
	// firmMin is how many samples must vote before what they agree on stays. They must have come over
	// two connections at least: all that come over one are the word of one machine.
	firmMin = 5

	// contestWindow is how long connections have a say in whether an agreement is lost.
	contestWindow = time.Minute

	// few connections decide if nothing else was heard for the window; many decide at once, if two
	// thirds of all contradict.
	few, many = 5, 20
)

// An agreement is an interval that the store's time is held to be in, whatever single machines say.
// It only widens by the drift, and narrows as samples inside of it vote. The zero agreement is none.
type agreement struct {
	interval
	at    elapsed.Reading
	valid bool

	stances  []stance      // of the connections that were heard last, in that order
	against  time.Duration // since when all that was heard contradicts, as a Reading.Min
	suspects history       // samples that contradict
}

// A stance says whether the latest sample of a connection contradicts the agreement.
type stance struct {
	connection  string
	at          time.Duration // a Reading.Min
	contradicts bool
}

// narrow takes in a vote, and returns it kept inside of the agreement. The first firm vote makes the
// agreement.
func (a *agreement) narrow(v vote, p drift, margin time.Duration) vote {
	if !a.valid {
		if v.firm {
			*a = agreement{interval: interval{v.low.add(-margin), v.high.add(margin)}, at: v.at, valid: true}
		}
		return v
	}
	kept := a.carried(v.at, p)
	inside := interval{max(v.low, kept.low), min(v.high, kept.high)}
	if !v.decided || inside.low > inside.high {
		return vote{interval: kept, at: v.at, decided: true}
	}
	// The margin is left so that the vote can correct itself by as much.
	a.interval = interval{max(kept.low, v.low.add(-margin)), min(kept.high, v.high.add(margin))}
	a.at = v.at
	return vote{interval: inside, at: v.at, decided: true}
}

func (a *agreement) carried(now elapsed.Reading, p drift) interval {
	return vote{interval: a.interval, at: a.at}.carried(now, p)
}

// contradicted reports whether a new sample cannot be true if the agreement is. It notes the stance
// of the connection that the sample came over.
func (a *agreement) contradicted(s sample, p drift, cfg Config) bool {
	if !a.valid {
		return false
	}
	held := a.carried(s.received, p)
	low, high := s.lowAt(s.received, p).add(-cfg.Margin), s.highAt(s.received, p).add(cfg.Margin+cfg.Slack)
	contradicts := low > held.high.add(cfg.Slack) || high < held.low
	a.hear(stance{s.connection, s.received.Min, contradicts})
	if contradicts {
		a.suspects.add(s)
	}
	return contradicts
}

// hear notes a stance in place of an earlier one of its connection. A connection without a name
// counts as another each time.
func (a *agreement) hear(s stance) {
	if s.contradicts && (len(a.stances) == 0 || !a.stances[len(a.stances)-1].contradicts) {
		a.against = s.at
	}
	a.stances = slices.DeleteFunc(a.stances, func(old stance) bool { return s.connection != "" && old.connection == s.connection })
	a.stances = append(a.stances, s)
	old := 0
	for len(a.stances)-old > many && s.at-a.stances[old].at > contestWindow || len(a.stances)-old > maxSamples {
		old++
	}
	a.stances = slices.Delete(a.stances, 0, old)
}

// lost reports whether the agreement, just contradicted, must be given up.
func (a *agreement) lost() bool {
	all, inARow := 0, 0
	for _, s := range a.stances {
		if s.contradicts {
			all, inARow = all+1, inARow+1
		} else {
			inARow = 0
		}
	}
	now := a.stances[len(a.stances)-1].at
	return inARow >= few && now-a.against >= contestWindow || all >= many && 3*all >= 2*len(a.stances)
}

// contested reports whether a sample of the last minute contradicts.
func (a *agreement) contested(now elapsed.Reading) bool {
	return slices.ContainsFunc(a.stances, func(s stance) bool { return s.contradicts && now.Min-s.at <= contestWindow })
}

// forget gives the agreement up if the local clocks do not agree any more on how old it is, and
// reports whether it did.
func (a *agreement) forget(now elapsed.Reading, p drift) bool {
	if a.valid && !agreed(a.at, now, p) {
		*a = agreement{}
		return true
	}
	a.suspects.forget(now, p)
	return false
}
