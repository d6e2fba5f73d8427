package history

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// learning is how many answers of a process come from machines that are right, at its start and after
// each loss of what it knew of the time. If a wrong machine alone answers a process that knows
// nothing, nothing can tell that it is wrong: the documents say so.
const learning = 12

// links are the connections of one process to the machines of the store. A request goes over one
// that is idle, or over a new one.
type links struct {
	machines machines

	mu     sync.Mutex
	dice   *rand.Rand
	idle   []*link
	made   int
	asleep bool
	heard  int // answers since the process knew nothing of the time
}

// A link is one connection.
type link struct {
	net.Conn // nil: only the addresses are asked for
	number   int
	machine  int
}

func (l *link) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, 1, 0, 1), Port: 10_000 + l.number}
}
func (l *link) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, 2, 0, byte(l.machine)), Port: 443}
}

// take chooses the connection of a request, and tells whoever traces the request.
func (l *links) take(ctx context.Context) *link {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	chosen, reused := l.choose(), false
	l.mu.Unlock()
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: chosen, Reused: reused})
	}
	return chosen
}

func (l *links) choose() *link {
	for len(l.idle) > 0 && l.dice.IntN(10) > 0 {
		last := l.idle[len(l.idle)-1]
		l.idle = l.idle[:len(l.idle)-1]
		if l.heard >= learning || last.machine != l.machines.wrong {
			return last
		}
	}
	l.made++
	machine := l.dice.IntN(fleet)
	if l.heard < learning && machine == l.machines.wrong {
		machine = (machine + 1) % fleet
	}
	return &link{number: l.made, machine: machine}
}

// error returns by how much the clock of a connection's machine is wrong now.
func (l *links) error(used *link) time.Duration {
	if l == nil {
		return 0
	}
	return l.machines.error(used.machine)
}

// forget notes that the process knows nothing of the time: it is new, or its clocks disagree.
func (l *links) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = 0
}

// suspend notes that the process learns nothing of the time for a while, or does again.
func (l *links) suspend(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asleep, l.heard = on, 0
}

// give returns a connection, over which an answer came or not, and which may be closed.
func (l *links) give(used *link, answered, closed bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if answered && !l.asleep {
		l.heard++
	}
	if answered && !closed && len(l.idle) < 4 {
		l.idle = append(l.idle, used)
	}
}
