package history

import (
	"fmt"
	"os"
	"strconv"
	"time"

	proof "github.com/dynamolease/dynamolease/e2e/settings"
)

// settings says how much to run.
type settings struct {
	seed      uint64
	histories int
	duration  time.Duration // of the whole run; 0 for no limit
	size      size
}

// settingsOf reads the settings from the environment. See the comment of the package.
func settingsOf(env func(string) string) (settings, error) {
	s := settings{histories: 120, size: size{nodes: 4, steps: 30, boots: 2}}
	if env("PROOF_LONG") == "1" {
		s.histories = 1100
	}
	var err error
	if s.seed, err = proof.SeedOf(env, time.Now()); err != nil {
		return s, err
	}
	if text := env("PROOF_HISTORIES"); text != "" {
		if s.histories, err = strconv.Atoi(text); err != nil || s.histories < 1 {
			return s, fmt.Errorf("PROOF_HISTORIES must be a number above 0, not %q", text)
		}
	}
	if text := env("PROOF_DURATION"); text != "" {
		if s.duration, err = time.ParseDuration(text); err != nil || s.duration <= 0 {
			return s, fmt.Errorf("PROOF_DURATION must be a time such as 10m, not %q", text)
		}
		if env("PROOF_HISTORIES") == "" {
			s.histories = 1 << 30
		}
	}
	return s, nil
}

func environment() (settings, error) { return settingsOf(os.Getenv) }
