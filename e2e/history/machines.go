package history

import (
	"math/rand/v2"
	"time"
)

// machines are the store's front ends. Each connection ends at one of them. In some histories the
// clock of one is wrong for some minutes.
type machines struct {
	wrong       int // the number of the wrong one; -1 for none
	by          time.Duration
	begin, over time.Time
}

const fleet = 4 // how many machines the store has

func newMachines(c climate, dice *rand.Rand) machines {
	m := machines{wrong: -1}
	by, begin, length := 1+dice.IntN(6), dice.Int64N(int64(2*time.Minute)), dice.Int64N(int64(10*time.Minute))
	if !c.broken {
		return m
	}
	m.wrong, m.by = 0, 10*time.Second<<by // up to ten minutes
	if dice.IntN(2) == 0 {
		m.by = -m.by
	}
	m.begin = time.Now().Add(time.Duration(begin))
	m.over = m.begin.Add(time.Duration(length))
	return m
}

// error returns by how much the clock of a machine is wrong now.
func (m machines) error(machine int) time.Duration {
	if now := time.Now(); machine == m.wrong && now.After(m.begin) && now.Before(m.over) {
		return m.by
	}
	return 0
}
