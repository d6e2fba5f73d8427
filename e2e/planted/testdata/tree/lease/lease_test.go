package lease

import (
	"os"
	"testing"
	"time"
)

func TestExpired(t *testing.T) {
	t.Run("exactly", func(t *testing.T) {
		if !Expired(5, 5) {
			t.Error("still live at its expiry")
		}
	})
	t.Run("before", func(t *testing.T) {
		if Expired(5, 4) {
			t.Error("expired before its expiry")
		}
	})
}

// TestEpoch leaves a process behind, in another session, and writes its id to a file. It hangs if
// the epoch is too high.
func TestEpoch(t *testing.T) {
	if file := os.Getenv("TREE_PID_FILE"); file != "" {
		leave(t, file)
	}
	for Epoch(1) > 2 {
		time.Sleep(time.Second)
	}
	if Epoch(1) < 0 {
		panic("the epoch is below 0")
	}
}
