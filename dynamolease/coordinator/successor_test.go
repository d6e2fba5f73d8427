package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// cut cuts a node off the store, until heal is called.
func (n *node) cut() (heal func()) { return n.path.Every("", dynamotest.Hang()) }

// ended reports whether Run has returned.
func (n *node) ended() bool {
	select {
	case <-n.over:
		return true
	default:
		return false
	}
}

// A succession is an old process of a node, a young one that joined under its name, and another node beside them.
type succession struct {
	*world
	mode              coordinator.LeaseMode
	old, young, other *node
	heal              func() // of the old one's path
}

const lapse = ttl + grace + 2*round // after which a session that was cut off is surely over, and its process knows

// join has the young process join.
func (s *succession) join() { s.young = s.start("n", 4, inMode(s.mode)) }

// successions are the ways in which an old process can come back to its successor.
var successions = map[string]func(*succession){
	"beyond its ttl": func(s *succession) {
		time.Sleep(lapse)
		s.join()
		time.Sleep(10 * round) // the new process has worked for half a minute
		s.heal()
	},
	"within its ttl": func(s *succession) {
		s.join()
		time.Sleep(ttl / 3)
		s.heal()
	},
	"joined while it could not be told, and back at once": func(s *succession) {
		time.Sleep(lapse)
		s.heal()
		s.join()
	},
	"both lapsed, the old one is back first": func(s *succession) {
		s.join()
		time.Sleep(round)
		mend := s.young.cut()
		time.Sleep(lapse)
		s.heal()
		s.within(10*round, "worked by the old one", func() bool { return len(s.works(s.old)) > 0 })
		mend()
	},
	"both lapsed, the young one is back first": func(s *succession) {
		s.join()
		time.Sleep(round)
		mend := s.young.cut()
		time.Sleep(lapse)
		mend()
		time.Sleep(3 * round)
		s.heal()
	},
	"both lapsed, and back at once": func(s *succession) {
		s.join()
		time.Sleep(round)
		mend := s.young.cut()
		time.Sleep(lapse)
		mend()
		s.heal()
	},
	"lapsed again and again": func(s *succession) {
		time.Sleep(lapse)
		s.join()
		s.within(10*round, "in balance", func() bool { return s.balanced(4, s.young, s.other) })
		for range 3 {
			mend := s.young.cut()
			time.Sleep(lapse)
			mend()
			time.Sleep(3 * round)
		}
		s.heal()
	},
	"answers lost": func(s *succession) {
		time.Sleep(lapse)
		s.join()
		time.Sleep(3 * round)
		s.heal()
		for range 3 {
			s.old.path.Next("UpdateItem", dynamotest.LoseResponse())
		}
	},
	"members not readable for some rounds": func(s *succession) {
		time.Sleep(lapse)
		s.join()
		time.Sleep(3 * round)
		blind := s.old.path.Every("Query", dynamotest.Throttle())
		s.heal()
		time.Sleep(3 * round)
		blind()
	},
	"a clock an hour ahead": func(s *succession) {
		time.Sleep(lapse)
		s.join()
		time.Sleep(3 * round)
		s.old.Step(time.Hour)
		s.heal()
	},
}

// An old process that was cut off and comes back finds its successor, hands over and says so. The successor goes on.
func TestSuccessorCO16(t *testing.T) {
	for name, play := range successions {
		t.Run(name, func(t *testing.T) {
			testkit.Sample(t)
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				s := &succession{world: w, mode: mode, old: w.start("n", 4, inMode(mode)), other: w.start("m", 4, inMode(mode))}
				w.settle(4, s.old, s.other)
				s.heal = s.old.cut()
				play(s)
				w.within(6*round, "over", s.old.ended)
				if !errors.Is(s.old.err, coordinator.ErrReplaced) {
					w.Errorf("the old one says %v", s.old.err)
				}
				w.within(10*round, "in balance", func() bool { return w.balanced(4, s.young, s.other) })
				w.always(10*round, "with the young one in it", func() bool { return w.balanced(4, s.young, s.other) && !s.young.ended() })
				if members := s.other.State().Members; len(members) != 2 || members[1].Session != s.young.State().Session {
					w.Errorf("members %+v", members)
				}
			})
		})
	}
}

// An old process that stops while it is cut off just stops; its successor does not notice.
func TestSuccessorCO16Drains(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		old, other := w.start("n", 4, inMode(mode), grouped(func(g *coordinator.Group) {
			g.DrainTimeout = 3 * ttl
			g.Handler = func(ctx context.Context, _ coordinator.Assignment) error {
				<-ctx.Done()
				if errors.Is(context.Cause(ctx), coordinator.ErrShutdown) {
					time.Sleep(2 * ttl) // it finishes what it has begun
				}
				return context.Cause(ctx)
			}
		})), w.start("m", 4, inMode(mode))
		w.settle(4, old, other)
		old.cancel()
		time.Sleep(round)
		young := w.start("n", 4, inMode(mode))
		time.Sleep(round)
		heal := old.cut()
		time.Sleep(round)
		heal()
		w.within(4*ttl, "over", old.ended)
		if old.err != nil {
			w.Errorf("the old one says %v", old.err)
		}
		w.within(10*round, "in balance", func() bool { return w.balanced(4, young, other) })
		w.always(10*round, "with the young one in it", func() bool { return w.balanced(4, young, other) && !young.ended() })
	})
}

// A successor that is gone for good replaces nobody: the old process goes on when it is back.
func TestSuccessorCO16Gone(t *testing.T) {
	for name, end := range map[string]func(*node){"crashed": (*node).crash, "stopped": (*node).stop} {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
				old, other := w.start("n", 4, inMode(mode)), w.start("m", 4, inMode(mode))
				w.settle(4, old, other)
				heal := old.cut()
				time.Sleep(lapse)
				young := w.start("n", 4, inMode(mode))
				w.within(10*round, "in balance", func() bool { return w.balanced(4, young, other) })
				end(young)
				time.Sleep(lapse)
				heal()
				w.within(10*round, "in balance", func() bool { return w.balanced(4, old, other) })
				w.always(10*round, "with the old one in it", func() bool { return w.balanced(4, old, other) && !old.ended() })
			})
		})
	}
}
