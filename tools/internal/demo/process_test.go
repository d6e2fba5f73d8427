//go:build unix

package demo

import (
	"fmt"
	"strings"
	"testing"
)

// idle starts processes that wait for their standard input to end.
func idle(t *testing.T, n int) []*process {
	t.Helper()
	t.Cleanup(keepThread())
	var list []*process
	for i := range n {
		p, err := startProcess(fmt.Sprintf("w%d", i+1), []string{"cat"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, p)
	}
	return list
}

func TestProcessEndsWhenDismissed(t *testing.T) {
	p := idle(t, 1)[0]
	if !p.running() {
		t.Fatal("it does not run")
	}
	for range 2 {
		if err := p.dismiss(); err != nil {
			t.Fatal(err)
		}
	}
	<-p.exited
	if p.running() || p.killed() || p.err != nil {
		t.Errorf("running = %v, killed = %v, error %v after a normal end", p.running(), p.killed(), p.err)
	}
	if got := p.failure().Error(); got != "worker w1 ended too early: without an error\n" {
		t.Errorf("failure = %q", got)
	}
}

func TestProcessIsKilledAlsoWhenStopped(t *testing.T) {
	p := idle(t, 1)[0]
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}
	if p.running() || !p.killed() {
		t.Errorf("running = %v, killed = %v", p.running(), p.killed())
	}
}

func TestFailureShowsTheEndOfStderr(t *testing.T) {
	t.Cleanup(keepThread())
	p, err := startProcess("w1", []string{"sh", "-c", "echo this went wrong >&2; exit 3"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if got := p.failure().Error(); got != "worker w1 ended too early: exit status 3\nthis went wrong" {
		t.Errorf("failure = %q", got)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var out tail
	fmt.Fprint(&out, "beginning", strings.Repeat(".", tailSize))
	fmt.Fprint(&out, "end")
	if got := out.String(); len(got) != tailSize || !strings.HasSuffix(got, ".end") {
		t.Errorf("tail of %d bytes ends in %q", len(got), got[len(got)-10:])
	}
}
