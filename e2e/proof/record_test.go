package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// program returns a suite that runs a program from testdata.
func program(name string) suite { return suite{name, []string{"run", "./testdata/" + name}} }

// A run that fails, in whatever way, leaves a file with the seed and with the output of each suite.
// The last line of its error names the file.
func TestFailingRunKeepsItsOutput(t *testing.T) {
	for _, name := range []string{"fails", "panics", "hangs"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var progress cancelling
			if name == "hangs" { // as when a person interrupts the run
				progress.on, progress.cancel = "hangs now", cancel
			}
			s := settings{long: true, seed: "17"}
			err := s.prove(ctx, []suite{program("succeeds"), program(name)}, io.Discard, &progress)
			if err == nil {
				t.Fatal("the run succeeded")
			}
			lines := strings.Split(err.Error(), "\n")
			words := strings.Fields(lines[len(lines)-1])
			path := words[len(words)-1]
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			defer os.Remove(path)
			for _, want := range []string{"PROOF_SEED=17", "succeeds with seed 17", name + " now", "violations", "error: " + name} {
				if !strings.Contains(string(text), want) {
					t.Errorf("the file does not contain %q:\n%s", want, text)
				}
			}
		})
	}
}

// A cancelling writer ends a context when a program writes a certain text.
type cancelling struct {
	on     string
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.on != "" && strings.Contains(string(p), c.on) {
		c.cancel()
	}
	return len(p), nil
}

func TestSucceedingRunKeepsNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if err := (settings{}).prove(t.Context(), []suite{program("succeeds")}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		if strings.HasPrefix(file.Name(), "dynamolease-proof-") {
			t.Errorf("the run left %s", file.Name())
		}
	}
}

func TestSeed(t *testing.T) {
	none := func(string) string { return "" }
	given := func(string) string { return "5" }
	now := time.Unix(0, 99)
	for _, tc := range []struct {
		s    settings
		env  func(string) string
		want string
	}{{settings{}, none, ""}, {settings{long: true}, none, "99"}, {settings{long: true}, given, "5"}, {settings{}, given, "5"}} {
		if seed := seedOf(tc.s, tc.env, now); seed != tc.want {
			t.Errorf("%+v: %q, want %q", tc.s, seed, tc.want)
		}
	}
}
