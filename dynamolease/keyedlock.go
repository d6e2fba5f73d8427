package dynamolease

import (
	"context"
	"sync"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A keyedLock lets one caller at a time work on a key. Waiting ends with the context.
type keyedLock struct {
	mu   sync.Mutex
	held map[key]*place
}

// A place is where those who want one key wait.
type place struct {
	token   chan struct{} // holds one value while nobody has the key
	callers int           // who has it, and who wait
}

func newKeyedLock() *keyedLock { return &keyedLock{held: make(map[key]*place)} }

func (l *keyedLock) lock(ctx context.Context, k key) (unlock func(), err error) {
	p := l.enter(k)
	select {
	case <-p.token:
		return func() { p.token <- struct{}{}; l.exit(k, p) }, nil
	case <-ctx.Done():
		l.exit(k, p)
		return nil, request.Ended(ctx)
	}
}

func (l *keyedLock) enter(k key) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.held[k]
	if p == nil {
		p = &place{token: make(chan struct{}, 1)}
		p.token <- struct{}{}
		l.held[k] = p
	}
	p.callers++
	return p
}

func (l *keyedLock) exit(k key, p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.callers--; p.callers == 0 {
		delete(l.held, k)
	}
}
