package history

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// An act is an operation of a history that is written by hand. Times are seconds; each is also the order of events.
type act struct {
	from, to int64
	in       leaseInput
	out      leaseOutput
}

func (a act) operation() porcupine.Operation {
	in := a.in
	in.from, in.to, in.ttl = 1000*a.from, 1000*a.to, 10_000
	in.after = in.from
	if a.out.unheard { // it is known when those were done
		in.after = in.to
	}
	return porcupine.Operation{Input: in, Output: a.out, Call: a.from, Return: a.to}
}

func ask(what leaseStep, owner string) leaseInput { return leaseInput{what: what, owner: owner} }

func of(owner string, epoch, exp int64) leaseOutput {
	return leaseOutput{owner: owner, epoch: epoch, exp: 1000 * exp}
}

func (o leaseOutput) at(checkpoint string) leaseOutput {
	o.checkpoint = checkpoint
	return o
}

func (o leaseOutput) ghost() leaseOutput {
	o.unheard = true
	return o
}

func inSession(in leaseInput, session string) leaseInput {
	in.session = session
	return in
}

func work(owner string, epoch int64, checkpoint string) leaseInput {
	return leaseInput{what: worked, owner: owner, epoch: epoch, leaves: true, checkpoint: checkpoint}
}

func lawful(sessions sessions, acts []act) bool {
	var operations []porcupine.Operation
	for _, a := range acts {
		operations = append(operations, a.operation())
	}
	return porcupine.CheckOperations(leaseModel(sessions), operations)
}

// What a lease must not do is found out by the machine.
func TestLeaseModelRejects(t *testing.T) {
	first := act{1, 2, ask(acquired, "a"), of("a", 5, 12)}
	s := of("a", 5, 0)
	s.session = "a#1"
	inLife := act{1, 2, inSession(ask(acquired, "a"), "a#1"), s}
	lives := sessions{"a#1": {{at: 0, exp: 12_000}, {at: 9_000, exp: 21_000}}}
	for name, acts := range map[string][]act{
		"a live lease is taken":                    {first, {5, 6, ask(acquired, "b"), of("b", 6, 17)}},
		"two get one epoch":                        {first, {14, 15, ask(acquired, "b"), of("b", 5, 26)}},
		"a takeover without a greater epoch":       {first, {14, 15, ask(acquired, "a"), of("a", 4, 26)}},
		"an epoch is left out":                     {first, {14, 15, ask(acquired, "b"), of("b", 7, 26)}},
		"the epoch goes back after a deletion":     {first, {20, 21, ask(deleted, ""), leaseOutput{unheard: true}}, {30, 31, ask(acquired, "b"), of("b", 5, 42)}},
		"a live lease is deleted":                  {first, {4, 5, ask(deleted, ""), leaseOutput{unheard: true}}},
		"an expired lease is renewed":              {first, {20, 21, ask(renewed, "a"), of("a", 5, 32)}},
		"another's lease is renewed":               {first, {5, 6, ask(renewed, "b"), of("b", 5, 17)}},
		"the expiry goes back":                     {first, {1, 2, ask(renewed, "a"), of("a", 5, 11)}, {3, 4, ask(listed, "c"), of("a", 5, 11)}, {3, 4, ask(listed, "c"), of("a", 5, 12)}},
		"a lease is too short":                     {{1, 2, ask(acquired, "a"), of("a", 5, 9)}},
		"lost, and held":                           {first, {4, 5, ask(lost, "a"), leaseOutput{}}},
		"released by another":                      {first, {4, 5, ask(released, "b"), leaseOutput{}}},
		"released twice":                           {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, ask(released, "a"), leaseOutput{}}},
		"released after it expired":                {first, {24, 25, ask(released, "a"), leaseOutput{}}},
		"the same epoch after a release":           {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, ask(acquired, "a"), of("a", 5, 18)}},
		"renewed after a release":                  {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(renewed, "a"), of("a", 5, 18)}},
		"held by who never had it":                 {first, {4, 5, ask(held, "c"), of("b", 6, 15)}},
		"held, long after it expired":              {first, {24, 25, ask(held, "c"), of("a", 5, 12)}},
		"listed, long after it expired":            {first, {24, 25, ask(listed, "c"), of("a", 5, 12)}},
		"not listed, and live":                     {first, {4, 5, ask(unlisted, "c"), leaseOutput{}}},
		"worked by a former holder":                {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {16, 17, work("a", 5, "x"), leaseOutput{}}},
		"worked after a release":                   {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, work("a", 5, "x"), leaseOutput{}}},
		"a checkpoint is forgotten":                {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26)}},
		"a checkpoint goes back":                   {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {5, 6, work("a", 5, "y"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26).at("x")}},
		"refused, and held":                        {first, {3, 4, leaseInput{what: refused, owner: "a", epoch: 5}, of("a", 5, 12)}},
		"a late release frees what was got again":  {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {16, 17, ask(freed, "a"), of("", 6, 0).ghost()}},
		"a late renewal shortens":                  {first, {3, 4, ask(renewed, "a"), of("a", 5, 15)}, {1, 6, ask(acquired, "a"), of("a", 5, 13).ghost()}},
		"a late acquisition comes back":            {first, {3, 4, ask(released, "a"), leaseOutput{}}, {1, 6, ask(acquired, "a"), of("a", 5, 14).ghost()}},
		"an unheard acquisition takes a live one":  {first, {4, 5, ask(acquired, "b"), of("b", 6, 16).ghost()}},
		"an unheard acquisition has another epoch": {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {3, 4, ask(acquired, "a"), of("a", 9, 15)}},
		"a live session's lease is taken":          {inLife, {15, 16, ask(acquired, "b"), of("b", 6, 27)}},
		"a dead session's lease is listed":         {inLife, {30, 31, ask(listed, "c"), s}},
		"a session's lease is renewed as a plain":  {inLife, {4, 5, ask(renewed, "a"), of("a", 5, 16)}},
	} {
		t.Run(name, func(t *testing.T) {
			if lawful(lives, acts) {
				t.Error("it was taken for lawful")
			}
		})
	}
}

// What a lease may do under lost answers is not taken for a fault.
func TestLeaseModelAccepts(t *testing.T) {
	first := act{1, 2, ask(acquired, "a"), of("a", 5, 12)}
	s := of("a", 5, 0)
	s.session = "a#1"
	for name, acts := range map[string][]act{
		"one after the other":                 {first, {3, 4, ask(renewed, "a"), of("a", 5, 15)}, {5, 6, ask(released, "a"), leaseOutput{}}, {7, 8, ask(acquired, "b"), of("b", 6, 18)}},
		"a takeover":                          {first, {13, 14, ask(acquired, "b"), of("b", 6, 24)}, {13, 14, ask(lost, "a"), leaseOutput{}}},
		"a lost answer, and then the holder":  {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {1, 5, ask(acquired, "a"), of("a", 5, 12)}},
		"applied, taken over, then refused":   {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {13, 14, ask(acquired, "b"), of("b", 6, 25)}, {1, 16, ask(held, "a"), of("b", 6, 25)}},
		"after a deletion":                    {first, {20, 21, ask(deleted, ""), leaseOutput{unheard: true}}, {30, 31, ask(acquired, "b"), of("b", 999, 42)}},
		"a listing that is no snapshot":       {first, {3, 9, ask(unlisted, "c"), leaseOutput{}}, {5, 6, ask(released, "a"), leaseOutput{}}},
		"live a little longer than it lasts":  {first, {13, 14, ask(held, "b"), of("a", 5, 12)}},
		"a session ends, and its lease is up": {{1, 2, inSession(ask(acquired, "a"), "a#1"), s}, {15, 16, ask(acquired, "b"), of("b", 6, 27)}},
		"work, and the checkpoint goes along": {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26).at("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			if !lawful(sessions{"a#1": {{at: 0, exp: 14_000}}}, acts) {
				t.Error("it was taken for unlawful")
			}
		})
	}
}
