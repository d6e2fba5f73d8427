package clock

import "testing"

func TestLater(t *testing.T) {
	if !Later() {
		t.Error("not later")
	}
}
