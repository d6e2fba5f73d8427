package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Nothing is changed but for a yes.
func TestQuestions(t *testing.T) {
	commands := map[string][]string{
		"Take it?": {"release", "payments", "0", "--wait", "0s"}, "Drain it?": {"drain", "shop", "a"}, "Undrain it?": {"undrain", "shop", "gone"},
		"Reap?": {"reap"},
	}
	for question, args := range commands {
		t.Run(args[0], func(t *testing.T) {
			f := newFixture(t).seed()
			if err := f.store.Drain(t.Context(), "shop", "gone"); err != nil {
				t.Fatal(err)
			}
			for _, reply := range []string{"n\n", "\n", "", "yeah\n", "never\n"} {
				code, out, errs := answer(t.Context(), strings.NewReader(reply), args...)
				if code != 4 || out != "" || !strings.Contains(errs, question+" [y/N] ") || !strings.Contains(errs, "nothing was changed") {
					t.Errorf("%q: code %d, %s\n%s", reply, code, out, errs)
				}
			}
			if code, _, errs := answer(t.Context(), nil, args...); code != 4 || !strings.Contains(errs, "use --yes") || strings.Contains(errs, question) {
				t.Errorf("without a terminal: code %d, %s", code, errs)
			}
			f.unchanged()
			for _, reply := range []string{"y\n", "YES\n"} {
				if code, out, errs := answer(t.Context(), strings.NewReader(reply), args...); code != 0 || out == "" {
					t.Errorf("%q: code %d, %s\n%s", reply, code, out, errs)
				}
			}
		})
	}
}

// unchanged expects the rows of seed, and only the name gone to be drained.
func (f *fixture) unchanged() {
	f.Helper()
	if out := f.expect(0, "", "", "leases", "payments"); strings.Contains(out, "yes") {
		f.Errorf("something is revoked:\n%s", out)
	}
	if drained, err := f.store.Drained(f.Context(), "shop"); err != nil || !slices.Equal(drained, []string{"gone"}) {
		f.Errorf("drained are %q, %v", drained, err)
	}
	f.expect(0, "5 due, 5 deleted", "", "reap", "--yes")
	for partition := range 5 {
		f.bury(partition)
	}
}

// A command that changes nothing does not ask.
func TestNothingToAsk(t *testing.T) {
	newFixture(t).seed()
	q := &quiet{T: t}
	for _, step := range []struct {
		args           string
		stdout, stderr string
	}{
		{"undrain shop a", "a of shop: in service; holds 3 partitions of orders\n", "a of shop is not drained: there is nothing to undo.\n"},
		{"undrain shop n9", "n9 of shop: not a member now, not drained; holds nothing\n",
			"n9 is no member of shop now: is the name right? Members are a, b.\nn9 of shop is not drained: there is nothing to undo.\n"},
		{"drain shop n9 --yes", "n9 of shop: not a member now, drained; holds nothing\na node of that name takes nothing when it joins; members lists the name " +
			"until then, too; to undo it: dynamolease undrain shop n9\n", "n9 is no member of shop now: is the name right? Members are a, b.\n" +
			"If it is drained, a node of that name takes nothing when it joins. To undo it: dynamolease undrain shop n9\n"},
		{"drain shop n9", "n9 of shop: not a member now, drained; holds nothing\na node", "n9 of shop is drained already.\n"},
		{"undrain shop n9 --yes", "n9 of shop: not a member now, not drained any more; holds nothing\n", "n9 of shop: not a member now, drained; holds nothing\n"},
		{"drain shop a --yes", "a of shop: drained; holds 3", "a of shop holds 3"},
		{"drain shop a", "a of shop: drained; holds 3", "a of shop is drained already.\n"},
	} {
		code, out, errs := answer(t.Context(), q, strings.Fields(step.args)...)
		if code != 0 || !strings.HasPrefix(out, step.stdout) || !strings.HasPrefix(errs, step.stderr) || strings.Count(step.stderr, "?") != strings.Count(errs, "?") || q.asked.Load() != 0 {
			t.Errorf("%s: code %d\n%s%s", step.args, code, out, errs)
		}
	}
}

// A question that is not answered ends with the program.
func TestQuestionIsInterrupted(t *testing.T) {
	newFixture(t).seed()
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if code, _, errs := answer(ctx, in, "reap"); code != 4 {
		t.Errorf("code %d, %s", code, errs)
	}
	writer.Close() // ends the pending read
	in.Close()
}
