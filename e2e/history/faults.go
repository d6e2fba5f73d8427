package history

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A fault is one way in which a request goes wrong.
type fault int

const (
	none fault = iota
	lostRequest
	hungRequest
	lostAnswer
	hungAnswer
	delayedRequest
	delayedAnswer
	lateRequest
	hungLateRequest
	doubledRequest
	doubledLate
	conflict
	throttled
	inProgress
	serverError
	serverErrorApplied
	unavailable
	tornQuery
	frozenBefore
	frozenAfter
	cutOff
	falseDate
	crowded
	wrongMachine
	proxied
	proxiedApplied
	noCredentials
	faultKinds
)

var faultNames = [faultKinds]string{
	"none", "lost request", "hung request", "lost answer", "hung answer", "delayed request", "delayed answer",
	"late after give-up", "late after hang", "doubled request", "doubled late", "conflict", "throttled", "transaction in progress",
	"server error", "server error, applied", "unavailable", "torn query", "frozen before sending", "frozen before answer",
	"cut off", "false date", "in the way of others", "date of a wrong machine", "answer of a proxy",
	"answer of a proxy, applied", "no credentials",
}

// weights gives the share of each fault among all faults.
var weights = [faultKinds]int{
	lostRequest: 8, hungRequest: 4, lostAnswer: 14, hungAnswer: 6, delayedRequest: 8, delayedAnswer: 8,
	lateRequest: 10, hungLateRequest: 6, doubledRequest: 6, doubledLate: 6, conflict: 6, throttled: 6, inProgress: 3,
	serverError: 4, serverErrorApplied: 5, unavailable: 3, tornQuery: 8, frozenBefore: 2, frozenAfter: 2, cutOff: 2,
}

// fits reports whether a fault can happen to an operation.
func (f fault) fits(op string) bool {
	switch f {
	case tornQuery:
		return op == "Query"
	case inProgress:
		return op == "TransactWriteItems"
	case conflict:
		return op != "Query" && op != "Scan" && op != "GetItem"
	}
	return true
}

const (
	quick   = 20 * time.Millisecond // the longest time of a request or an answer without a fault
	far     = 1500 * time.Millisecond
	slow    = 3 * time.Second  // the longest delay of a delayed one
	latest  = 40 * time.Second // the longest delay of a late one
	longest = 25 * time.Second // the longest freeze, and the longest cut
	oldest  = 4 * time.Second  // the oldest rows in the answer to an eventually consistent read
)

// A weather says which fault one request meets, and how long its parts take.
type weather struct {
	what     fault
	up, down time.Duration
	delay    time.Duration // of the fault
	age      time.Duration // of what is read without strong consistency
	heads    bool          // the result of a coin
	torn     uint64        // which rows of a torn query come from the second read
}

// A sky makes the weather of one node.
type sky struct {
	mu   sync.Mutex
	dice *rand.Rand
	rate float64 // the share of requests that meet a fault
	cut  time.Time

	holds   bool // while it is cut off, requests wait on the way
	proxied bool // a proxy answers in place of the store where that fails
	remote  bool // in every other ttl, requests that read are on their way for up to far
}

// next returns the weather for a request of the operation op.
func (s *sky) next(op string) weather {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := weather{
		up: s.upTo(quick), down: s.upTo(quick), heads: s.dice.IntN(2) == 0, torn: s.dice.Uint64(),
	}
	if chance, what := s.dice.Float64(), s.any(op); chance < s.rate {
		w.what = what
	}
	if s.proxied && w.what == serverError {
		w.what = proxied
	}
	if s.proxied && w.what == serverErrorApplied {
		w.what = proxiedApplied
	}
	if s.remote && (op == "GetItem" || op == "Query") && time.Now().Unix()/int64(leaseTTL.Seconds())%2 == 0 {
		w.up = s.upTo(far)
	}
	old, length := s.dice.Float64(), s.dice.Float64()
	w.age = part(oldest, old*old)
	switch w.what {
	case delayedRequest, delayedAnswer:
		w.delay = part(slow, length)
	case lateRequest, hungLateRequest, doubledLate:
		w.delay = part(latest, length*length)
	case frozenBefore, frozenAfter, cutOff:
		w.delay = part(longest, length)
	case doubledRequest, tornQuery:
		w.delay = part(slow/10, length)
	}
	if w.what == cutOff {
		s.cut = time.Now().Add(w.delay)
	}
	left := time.Until(s.cut)
	s.holds = s.holds && left > 0
	if left > 0 {
		w.what, w.delay, w.heads = cutOff, left, w.heads || s.holds
	}
	return w
}

// isolate cuts the node off for a while. What it sends waits on the way until then.
func (s *sky) isolate(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut, s.holds = time.Now().Add(d), true
}

// toss returns a number from 0 to 3.
func (s *sky) toss() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.IntN(4)
}

// any chooses a fault that fits op. It always uses one random number, whichever fault it chooses.
func (s *sky) any(op string) fault {
	total := 0
	for f, weight := range weights {
		if fault(f).fits(op) {
			total += weight
		}
	}
	n := int(s.dice.Float64() * float64(total))
	for f, weight := range weights {
		if !fault(f).fits(op) {
			continue
		}
		if n -= weight; n < 0 {
			return fault(f)
		}
	}
	return none
}

func (s *sky) upTo(d time.Duration) time.Duration { return time.Duration(1 + s.dice.Int64N(int64(d))) }

func part(d time.Duration, share float64) time.Duration { return time.Duration(float64(d) * share) }

// A faultCount counts faults by kind.
type faultCount struct {
	mu sync.Mutex
	by [faultKinds]int
}

func (c *faultCount) add(f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[f]++
}
