package rowstore

import (
	"context"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A KeyedLock lets one caller at a time work on a key. It is safe for concurrent use.
type KeyedLock struct {
	mu   sync.Mutex
	held map[Key]*place
}

// A place is where the callers of one key wait.
type place struct {
	token   chan struct{} // holds one value while nobody has the key
	callers int           // the one that has it, and those that wait
}

// NewKeyedLock returns a lock of which every key is free.
func NewKeyedLock() *KeyedLock { return &KeyedLock{held: make(map[Key]*place)} }

// Lock waits for a key, until ctx ends. unlock gives it to the next caller.
func (l *KeyedLock) Lock(ctx context.Context, k Key) (unlock func(), err error) {
	p := l.enter(k)
	select {
	case <-p.token:
		return func() { p.token <- struct{}{}; l.exit(k, p) }, nil
	case <-ctx.Done():
		l.exit(k, p)
		return nil, request.Ended(ctx)
	}
}

// First takes keys before all callers that come later, and waits for those that have them, though
// no longer than patience. A key that somebody has for longer is taken when that one is done. leave
// gives all of them to the next callers.
func (l *KeyedLock) First(ctx context.Context, keys []Key, patience time.Duration) (leave func()) {
	ctx, left := context.WithCancel(ctx)
	var taking, running sync.WaitGroup
	taking.Add(len(keys))
	for _, k := range keys {
		running.Go(func() {
			unlock, err := l.Lock(ctx, k)
			taking.Done()
			if err == nil {
				<-ctx.Done()
				unlock()
			}
		})
	}
	taken := make(chan struct{})
	running.Go(func() {
		taking.Wait()
		close(taken)
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-taken:
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() {
		left()
		running.Wait()
	}
}

func (l *KeyedLock) enter(k Key) *place {
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

func (l *KeyedLock) exit(k Key, p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.callers--; p.callers == 0 {
		delete(l.held, k)
	}
}
