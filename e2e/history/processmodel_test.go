package history

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

func writes(from, to int64, owner string, term, seq int64) porcupine.Operation {
	return porcupine.Operation{
		Input: headInput{what: wrote, at: 1000 * to}, Output: headState{owner: owner, term: term, seq: seq}, Call: from, Return: to,
	}
}

func question(from, to int64, what headStep, owner string, out headState) porcupine.Operation {
	return porcupine.Operation{Input: headInput{what: what, owner: owner}, Output: out, Call: from, Return: to}
}

// The model rejects histories that break a promise about an identity.
func TestHeadModel(t *testing.T) {
	first, second := writes(1, 2, "a", 1, 1), writes(3, 4, "a", 1, 2)
	resigned := writes(3, 4, "a", 1, 2)
	resigned.Output = headState{owner: "a", term: 1, seq: 2, resigned: true}
	for name, c := range map[string]struct {
		operations []porcupine.Operation
		lawful     bool
	}{
		"renewed and taken over":         {[]porcupine.Operation{first, second, writes(14, 15, "b", 2, 3)}, true},
		"resigned and taken over":        {[]porcupine.Operation{first, resigned, writes(5, 6, "b", 2, 3)}, true},
		"taken over too early":           {[]porcupine.Operation{first, second, writes(8, 9, "b", 2, 3)}, false},
		"a term is left out":             {[]porcupine.Operation{first, writes(14, 15, "b", 3, 2)}, false},
		"two owners of one term":         {[]porcupine.Operation{first, writes(14, 15, "b", 1, 2)}, false},
		"a seq comes twice":              {[]porcupine.Operation{first, writes(3, 4, "a", 1, 1)}, false},
		"it begins in the middle":        {[]porcupine.Operation{writes(1, 2, "a", 2, 1)}, false},
		"the former head is seen":        {[]porcupine.Operation{first, second, question(5, 6, saw, "", headState{owner: "a", term: 1, seq: 1})}, false},
		"nothing is seen":                {[]porcupine.Operation{first, question(5, 6, sawNone, "", headState{})}, false},
		"current, and another's":         {[]porcupine.Operation{first, question(5, 6, isCurrent, "b", headState{})}, false},
		"not current, and nobody's else": {[]porcupine.Operation{first, question(5, 6, isNot, "a", headState{})}, false},
		"it writes after it resigned":    {[]porcupine.Operation{first, resigned, writes(5, 6, "a", 1, 3)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := porcupine.CheckOperations(headModel(), c.operations); got != c.lawful {
				t.Errorf("lawful: got %v, want %v", got, c.lawful)
			}
		})
	}
}
