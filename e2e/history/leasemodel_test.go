package history

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// An act is an operation of a history that a test writes by hand. Its times are seconds, and also
// order the events.
type act struct {
	from, to int64
	in       leaseInput
	out      leaseOutput
}

func (a act) operation() porcupine.Operation {
	in := a.in
	in.from, in.to, in.ttl = 1000*a.from, 1000*a.to, 10_000
	in.after = in.from
	if a.out.unheard { // the notes show when the server applied these
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

// over returns the input of an operator's step about the lease of an epoch.
func over(what leaseStep, epoch int64) leaseInput {
	return leaseInput{what: what, owner: operatorName, epoch: epoch}
}

// byOperator returns the output of an operator's write: the row after it.
func byOperator(o leaseOutput) leaseOutput {
	o.revoked = o.owner != ""
	return o.ghost()
}

func lawful(sessions sessions, acts []act) bool {
	var operations []porcupine.Operation
	for _, a := range acts {
		operations = append(operations, a.operation())
	}
	return porcupine.CheckOperations(leaseModel(sessions), operations)
}

// The model rejects histories that break a promise about leases.
func TestLeaseModelRejects(t *testing.T) {
	first := act{1, 2, ask(acquired, "a"), of("a", 5, 12)}
	s := of("a", 5, 0)
	s.session = "a#1"
	inLife := act{1, 2, inSession(ask(acquired, "a"), "a#1"), s}
	lives := sessions{"a#1": {{at: 0, exp: 12_000}, {at: 9_000, exp: 21_000}}}
	mark := act{3, 4, over(marked, 5), byOperator(of("a", 5, 12))}
	take := act{13, 14, over(taken, 5), byOperator(of("", 6, 0))}
	for name, acts := range map[string][]act{
		"a live lease is taken":                         {first, {5, 6, ask(acquired, "b"), of("b", 6, 17)}},
		"two get one epoch":                             {first, {14, 15, ask(acquired, "b"), of("b", 5, 26)}},
		"a takeover without a greater epoch":            {first, {14, 15, ask(acquired, "a"), of("a", 4, 26)}},
		"an epoch is left out":                          {first, {14, 15, ask(acquired, "b"), of("b", 7, 26)}},
		"the epoch goes back after a deletion":          {first, {20, 21, ask(deleted, ""), leaseOutput{unheard: true}}, {30, 31, ask(acquired, "b"), of("b", 5, 42)}},
		"a live lease is deleted":                       {first, {4, 5, ask(deleted, ""), leaseOutput{unheard: true}}},
		"an expired lease is renewed":                   {first, {20, 21, ask(renewed, "a"), of("a", 5, 32)}},
		"another's lease is renewed":                    {first, {5, 6, ask(renewed, "b"), of("b", 5, 17)}},
		"the expiry goes back":                          {first, {1, 2, ask(renewed, "a"), of("a", 5, 11)}, {3, 4, ask(listed, "c"), of("a", 5, 11)}, {3, 4, ask(listed, "c"), of("a", 5, 12)}},
		"a lease is too short":                          {{1, 2, ask(acquired, "a"), of("a", 5, 9)}},
		"lost, and held":                                {first, {4, 5, ask(lost, "a"), leaseOutput{}}},
		"released by another":                           {first, {4, 5, ask(released, "b"), leaseOutput{}}},
		"released twice":                                {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, ask(released, "a"), leaseOutput{}}},
		"released late, twice":                          {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(acquired, "b"), of("b", 6, 18)}, {8, 9, ask(released, "a"), leaseOutput{}}, {10, 11, ask(released, "a"), leaseOutput{}}},
		"released late, of what had run out":            {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(acquired, "b"), of("b", 6, 18)}, {24, 25, ask(released, "a"), leaseOutput{}}},
		"released after it expired":                     {first, {24, 25, ask(released, "a"), leaseOutput{}}},
		"released again, of what was told":              {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(released, "a"), leaseOutput{}}, {8, 9, ask(released, "a"), leaseOutput{}}},
		"released, of what another has freed":           {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(released, "b"), leaseOutput{}}},
		"the same epoch after a release":                {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, ask(acquired, "a"), of("a", 5, 18)}},
		"renewed after a release":                       {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(renewed, "a"), of("a", 5, 18)}},
		"held by who never had it":                      {first, {4, 5, ask(held, "c"), of("b", 6, 15)}},
		"held, long after it expired":                   {first, {24, 25, ask(held, "c"), of("a", 5, 12)}},
		"listed, long after it expired":                 {first, {24, 25, ask(listed, "c"), of("a", 5, 12)}},
		"not listed, and live":                          {first, {4, 5, ask(unlisted, "c"), leaseOutput{}}},
		"worked by a former holder":                     {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {16, 17, work("a", 5, "x"), leaseOutput{}}},
		"worked after a release":                        {first, {4, 5, ask(released, "a"), leaseOutput{}}, {6, 7, work("a", 5, "x"), leaseOutput{}}},
		"a checkpoint is forgotten":                     {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26)}},
		"a checkpoint goes back":                        {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {5, 6, work("a", 5, "y"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26).at("x")}},
		"refused, and held":                             {first, {3, 4, leaseInput{what: refused, owner: "a", epoch: 5}, of("a", 5, 12)}},
		"a late release frees what was got again":       {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {16, 17, ask(freed, "a"), of("", 6, 0).ghost()}},
		"an expired lease is got again under its epoch": {first, {24, 25, ask(acquired, "a"), of("a", 5, 36)}},
		"a late renewal shortens":                       {first, {3, 4, ask(renewed, "a"), of("a", 5, 15)}, {1, 6, ask(acquired, "a"), of("a", 5, 13).ghost()}},
		"a late acquisition comes back":                 {first, {3, 4, ask(released, "a"), leaseOutput{}}, {1, 6, ask(acquired, "a"), of("a", 5, 14).ghost()}},
		"an unheard acquisition takes a live one":       {first, {4, 5, ask(acquired, "b"), of("b", 6, 16).ghost()}},
		"an unheard acquisition has another epoch":      {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {3, 4, ask(acquired, "a"), of("a", 9, 15)}},
		"a live session's lease is taken":               {inLife, {15, 16, ask(acquired, "b"), of("b", 6, 27)}},
		"a dead session's lease is listed":              {inLife, {30, 31, ask(listed, "c"), s}},
		"a session's lease is renewed as a plain":       {inLife, {4, 5, ask(renewed, "a"), of("a", 5, 16)}},
		"a revoked lease is renewed":                    {first, mark, {5, 6, ask(renewed, "a"), of("a", 5, 17)}},
		"a revoked lease is extended":                   {first, mark, {5, 6, ask(acquired, "a"), of("a", 5, 17)}},
		"a revoked lease is extended, unheard of":       {first, mark, {5, 6, ask(acquired, "a"), of("a", 5, 17).ghost()}},
		"a session keeps a revoked lease":               {inLife, {3, 4, over(marked, 5), byOperator(s)}, {5, 6, inSession(ask(acquired, "a"), "a#1"), s}},
		"an operator takes a live lease":                {first, {4, 5, over(taken, 5), byOperator(of("", 6, 0))}},
		"an operator takes another's":                   {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {30, 31, over(taken, 5), byOperator(of("", 7, 0))}},
		"an operator marks another's":                   {first, {14, 15, ask(acquired, "b"), of("b", 6, 26)}, {16, 17, over(marked, 5), byOperator(of("b", 6, 26))}},
		"taken under the same epoch":                    {first, {13, 14, over(taken, 5), byOperator(of("", 5, 0))}},
		"acquired again under the epoch after":          {first, mark, take, {15, 16, ask(acquired, "b"), of("b", 6, 26)}},
		"worked after it was taken":                     {first, mark, take, {15, 16, work("a", 5, "x"), leaseOutput{}}},
		"released after it was taken":                   {first, mark, take, {15, 16, ask(released, "a"), leaseOutput{}}},
		"done, and held":                                {first, mark, {5, 6, over(revoked, 5), of("a", 5, 12)}},
		"not done, and not marked":                      {first, {4, 5, over(standing, 5), of("a", 5, 12)}},
		"not done, long after it expired":               {first, mark, {24, 25, over(standing, 5), of("a", 5, 12)}},
		"left out by who holds it, unmarked":            {first, {4, 5, ask(leftOut, "a"), leaseOutput{}}},
		"not released, and marked alone":                {first, mark, {5, 6, ask(lost, "a"), leaseOutput{}}},
		"refused to its holder, and not revoked":        {first, {5, 6, ask(held, "a"), of("a", 5, 12)}},
	} {
		t.Run(name, func(t *testing.T) {
			if lawful(lives, acts) {
				t.Error("the model accepts this history")
			}
		})
	}
}

// The model accepts the histories that are possible when answers are lost.
func TestLeaseModelAccepts(t *testing.T) {
	first := act{1, 2, ask(acquired, "a"), of("a", 5, 12)}
	s := of("a", 5, 0)
	s.session = "a#1"
	mark := act{3, 4, over(marked, 5), byOperator(of("a", 5, 12))}
	for name, acts := range map[string][]act{
		"revoked, and what comes of it":            {first, mark, {5, 6, over(standing, 5), of("a", 5, 12)}, {5, 6, ask(leftOut, "a"), leaseOutput{}}, {5, 6, ask(held, "a"), of("a", 5, 12)}, {7, 8, work("a", 5, "x"), leaseOutput{}}, {13, 14, over(taken, 5), byOperator(of("", 6, 0)).at("x")}, {13, 15, over(revoked, 5), of("", 6, 0).at("x")}, {16, 17, ask(acquired, "b"), of("b", 7, 27).at("x")}},
		"revoked, and released":                    {first, mark, {5, 6, ask(released, "a"), leaseOutput{}}, {7, 8, over(revoked, 5), of("", 5, 0)}, {9, 10, ask(acquired, "a"), of("a", 6, 20)}},
		"an epoch of before is revoked":            {first, {3, 4, over(revoked, 4), of("a", 5, 12)}, {5, 6, ask(renewed, "a"), of("a", 5, 17)}},
		"an attempt that came too late for itself": {{1, 16, ask(acquired, "a"), of("a", 5, 12).ghost()}, {24, 25, ask(acquired, "a"), of("a", 5, 36)}, {26, 27, ask(renewed, "a"), of("a", 5, 38)}},
		"released late":                            {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(acquired, "b"), of("b", 6, 18)}, {8, 9, ask(released, "a"), leaseOutput{}}, {10, 11, ask(renewed, "b"), of("b", 6, 22)}},
		"released again, without an answer":        {first, {4, 5, ask(freed, "a"), of("", 5, 0).ghost()}, {6, 7, ask(freed, "a"), of("", 5, 0).ghost()}, {8, 9, ask(released, "a"), leaseOutput{}}},
		"one after the other":                      {first, {3, 4, ask(renewed, "a"), of("a", 5, 15)}, {5, 6, ask(released, "a"), leaseOutput{}}, {7, 8, ask(acquired, "b"), of("b", 6, 18)}},
		"a takeover":                               {first, {13, 14, ask(acquired, "b"), of("b", 6, 24)}, {13, 14, ask(lost, "a"), leaseOutput{}}},
		"a lost answer, and then the holder":       {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {1, 5, ask(acquired, "a"), of("a", 5, 12)}},
		"applied, taken over, then refused":        {{1, 2, ask(acquired, "a"), of("a", 5, 12).ghost()}, {13, 14, ask(acquired, "b"), of("b", 6, 25)}, {1, 16, ask(held, "a"), of("b", 6, 25)}},
		"after a deletion":                         {first, {20, 21, ask(deleted, ""), leaseOutput{unheard: true}}, {30, 31, ask(acquired, "b"), of("b", 999, 42)}},
		"a listing that is no snapshot":            {first, {3, 9, ask(unlisted, "c"), leaseOutput{}}, {5, 6, ask(released, "a"), leaseOutput{}}},
		"live a little longer than it lasts":       {first, {13, 14, ask(held, "b"), of("a", 5, 12)}},
		"a session ends, and its lease is up":      {{1, 2, inSession(ask(acquired, "a"), "a#1"), s}, {15, 16, ask(acquired, "b"), of("b", 6, 27)}},
		"work, and the checkpoint goes along":      {first, {3, 4, work("a", 5, "x"), leaseOutput{}}, {14, 15, ask(acquired, "b"), of("b", 6, 26).at("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			if !lawful(sessions{"a#1": {{at: 0, exp: 14_000}}}, acts) {
				t.Error("the model rejects this history")
			}
		})
	}
}
