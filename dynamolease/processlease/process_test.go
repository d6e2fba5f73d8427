//go:build unix

package processlease_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A process is a boot in a process of its own.
type process struct {
	w      *world
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	exited bool

	owner     uuid.UUID
	term      uint64
	acquired  time.Time
	lastValid time.Time // that it has said
	over      bool      // it has said that its lease is not valid any more
}

// start starts a boot that is ready to acquire the lease.
func (w *world) start() *process {
	w.Helper()
	p := &process{w: w, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childTable+"="+w.Table, childNode+"="+w.node, "DYNAMODB_ENDPOINT="+w.Server.Endpoint())
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(p.kill)
	p.await("ready")
	return p
}

// kill ends the process at once, stopped or not.
func (p *process) kill() {
	if p.exited {
		return
	}
	p.exited = true
	_ = p.cmd.Process.Kill()
	for p.out.Scan() {
		p.note(p.out.Text())
	}
	_ = p.cmd.Wait() // it was killed, which is no surprise
	_ = p.in.Close()
}

func (p *process) signal(s os.Signal) {
	p.w.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.w.Fatal(err)
	}
}

// acquire has the process acquire the lease, and waits until it has.
func (p *process) acquire() {
	p.w.Helper()
	if _, err := fmt.Fprintln(p.in, "go"); err != nil {
		p.w.Fatal(err)
	}
	p.await("acquired")
}

// await reads what the process says up to a line of this kind, and returns the words after it. It waits for no renewal
// of a lease that is over.
func (p *process) await(kind string) []string {
	p.w.Helper()
	for !(p.over && kind == "renewed") && p.out.Scan() {
		words := p.note(p.out.Text())
		switch {
		case len(words) > 0 && words[0] == kind:
			return words[1:]
		case len(words) > 0 && words[0] == "failed":
			p.w.Fatal(p.out.Text())
		}
	}
	if p.over && kind == "renewed" {
		return nil
	}
	p.w.Fatalf("the process ended before it was %s: %v", kind, errors.Join(p.out.Err(), p.cmd.Wait()))
	return nil
}

// note takes in a line.
func (p *process) note(line string) []string {
	words := strings.Fields(line)
	var at int64
	var owner string
	switch {
	case strings.HasPrefix(line, "acquired"):
		if _, err := fmt.Sscan(strings.Join(words[1:], " "), &at, &p.term, &owner); err != nil {
			p.w.Fatalf("%q: %v", line, err)
		}
		p.acquired, p.owner = time.Unix(0, at), uuid.MustParse(owner)
	case strings.HasPrefix(line, "valid"), strings.HasPrefix(line, "invalid"):
		if _, err := fmt.Sscan(words[1], &at); err != nil {
			p.w.Fatalf("%q: %v", line, err)
		}
		p.lastValid = time.Unix(0, at)
		p.over = words[0] == "invalid"
	}
	return words
}

// follows checks that a process got the lease after another one, by a takeover that is proven.
func (p *process) follows(former *process, a *boot) {
	p.w.Helper()
	if p.term != former.term+1 {
		p.w.Errorf("term %d after term %d", p.term, former.term)
	}
	if !former.lastValid.Before(p.acquired) {
		p.w.Errorf("overlap: the former owner believed %v after the next one had the lease", former.lastValid.Sub(p.acquired))
	}
	f, err := a.authority.FenceIncarnation(p.w.Context(), processlease.Participant{Node: p.w.node, Owner: former.owner})
	if err != nil || f.Predecessor.Term != former.term || f.Successor.Term != p.term || f.Successor.Owner != p.owner {
		p.w.Errorf("fence %+v, %v", f, err)
	}
	if ok, err := a.authority.VerifyCurrentParticipantTerm(p.w.Context(), processlease.Participant{Node: p.w.node, Owner: p.owner}, p.term); !ok || err != nil {
		p.w.Errorf("the new owner is current: %v, %v", ok, err)
	}
}

// The lease is handed from process to process, each killed or stopped while it holds it. At no time do two believe in it.
func TestProcesses(t *testing.T) {
	w := newWorld(t)
	a := w.boot()
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	owner := w.start()
	owner.acquire()
	for round := 0; round < rounds; {
		next := w.start()
		owner.await("renewed")
		switch {
		case owner.over: // on a machine that is too busy for so short a ttl; that is no round
			t.Logf("term %d was over before anything was done to its owner", owner.term)
			killed(owner, next, a)
			round--
		case round%2 == 0:
			killed(owner, next, a)
		default:
			stopped(owner, next, a)
		}
		if t.Failed() {
			t.Fatalf("in round %d, term %d", round, owner.term)
		}
		round++
		owner = next
	}
}

// killed: the next boot has the identity after one ttl and a second at most.
func killed(owner, next *process, a *boot) {
	owner.w.Helper()
	owner.kill()
	at := time.Now()
	next.acquire()
	if took := next.acquired.Sub(at); took > childTTL+time.Second {
		owner.w.Errorf("the next boot has the lease %v after the former one was killed", took)
	}
	next.follows(owner, a)
}

// stopped: the owner is stopped for three ttl and more, and finds its lease gone before it can do anything with it.
func stopped(owner, next *process, a *boot) {
	w := owner.w
	w.Helper()
	owner.signal(syscall.SIGSTOP)
	next.acquire()
	for range 10 { // two ttl, at five renewals in each
		next.await("renewed")
	}
	before := time.Now()
	owner.signal(syscall.SIGCONT)
	owner.await("invalid")
	if !owner.lastValid.Before(before) {
		w.Errorf("valid %v after it was continued", owner.lastValid.Sub(before))
	}
	if late := owner.await("late"); late[0] != next.owner.String() || late[1] != fmt.Sprint(next.term) {
		w.Errorf("the delayed write met %v, want owner %v in term %d", late, next.owner, next.term)
	}
	next.follows(owner, a)
	next.await("renewed")
	owner.kill()
}
