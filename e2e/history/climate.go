package history

import "math/rand/v2"

// A climate says which kinds of trouble one history has, beyond the faults of single requests.
type climate struct {
	rate      float64 // the share of requests that meet a fault
	lying     bool    // some dates are false
	night     bool    // an hour or two pass in the middle
	vandal    bool    // somebody deletes rows by hand
	twins     bool    // two processes run at once under one node name
	shared    bool    // two processes run at once under one owner name, against all advice
	slewed    bool    // the monotonic clocks of nodes are slewed
	contended bool    // a transaction occupies its rows for a moment
	broken    bool    // the clock of one of the store's machines is wrong for some minutes
	proxied   bool    // a proxy, whose clock is wrong, answers where the store fails
	penniless bool    // credentials fail now and then, before a request is sent
	remote    bool    // requests that read are on their way for long, every now and then
	limit     float64 // the write units of one partition key in a second; 0 for no limit
}

// newClimate draws a climate. Each trouble is in some histories only, so that the others show what
// happens without it.
func newClimate(dice *rand.Rand) climate {
	c := climate{
		lying: dice.IntN(4) == 0, rate: []float64{0.03, 0.1, 0.2, 0.3, 0.45}[dice.IntN(5)], night: dice.IntN(2) == 0,
		vandal: dice.IntN(4) == 0, twins: dice.IntN(3) == 0, shared: dice.IntN(4) == 0, slewed: dice.IntN(3) == 0, contended: dice.IntN(3) == 0,
		broken: dice.IntN(4) == 0, proxied: dice.IntN(3) == 0, penniless: dice.IntN(3) == 0,
	}
	if limit := 4 + 8*dice.Float64(); dice.IntN(5) == 0 {
		c.limit = limit
	}
	// A node whose clocks run apart forgets again and again what it knew of the store's time, and may
	// learn it anew from the wrong machine alone.
	c.broken = c.broken && !c.slewed
	return c
}

// realClimate is the climate of a history against a store with its own clock and its own troubles.
func realClimate() climate { return climate{rate: 0.3, twins: true} }

// vague reports whether some dates are false, so that a call may take what has expired for live.
func (c climate) vague() bool { return c.lying || c.broken }
