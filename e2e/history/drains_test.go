package history

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Members returns the drain of the last successful call, or of a later write without an answer.
func TestDrainIsARegister(t *testing.T) {
	ask := func(s *tale, what kind, err error) {
		on := int64(0)
		if what == drain {
			on = 1
		}
		s.call(&call{what: what, owner: "n0", yes: err == nil, err: err}, func(c *call) { s.write(c, drainRow("n0", on)) })
	}
	find := func(s *tale, drained bool) {
		s.call(&call{what: members, yes: true, members: []dynamolease.Member{{Node: "n0", Drained: drained}}}, func(*call) {})
	}
	for name, test := range map[string]struct {
		tell  func(s *tale)
		legal bool
	}{
		"as it was answered":  {func(s *tale) { ask(s, drain, nil); find(s, true); ask(s, undrain, nil); find(s, false) }, true},
		"drained, and not so": {func(s *tale) { ask(s, drain, nil); find(s, false) }, false},
		"drained by nobody":   {func(s *tale) { find(s, true) }, false},
		"forgotten again":     {func(s *tale) { ask(s, drain, nil); find(s, true); find(s, false) }, false},
		"without an answer":   {func(s *tale) { ask(s, drain, dynamolease.ErrUnknownOutcome); find(s, true) }, true},
		"late, and it has the last word": {func(s *tale) {
			s.call(&call{what: drain, owner: "n0", err: errors.New("lost")}, func(late *call) {
				ask(s, undrain, nil)
				s.write(late, drainRow("n0", 1))
			})
			find(s, false)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTale()
			test.tell(s)
			if got := porcupine.CheckOperations(drainModel(), s.drainOperations("n0")); got != test.legal {
				t.Errorf("legal: got %v, want %v", got, test.legal)
			}
		})
	}
}
