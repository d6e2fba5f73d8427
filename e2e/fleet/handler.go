package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A temper says how the handlers of a partition behave.
type temper int

const (
	mild      temper = iota
	slow             // returns some time after its context ends, within the drain timeout
	stuck            // returns long after the drain timeout
	fails            // sometimes returns an error
	panicking        // sometimes panics
)

var errHandler = errors.New("the handler fails")

// temperOf returns how the handlers of a partition behave in this script.
func (s script) temperOf(partition int) temper {
	if !s.hard {
		return mild
	}
	return one(dice(s.seed, fmt.Sprint("temper", partition)), mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, slow, slow, stuck, fails, panicking)
}

// lag returns how long handlers may delay the handover of a partition.
func (s script) lag() time.Duration {
	if !s.hard {
		return 0
	}
	return s.drain
}

// work is the handler. It waits for the end of its context, and behaves according to its
// partition's temper. Handlers whose contexts end at the same time return one after the other, so
// that their order does not depend on the scheduler.
func (s script) work(ctx context.Context, lease coordinator.Assignment) error {
	defer time.Sleep(time.Duration(lease.Partition+1) * time.Microsecond)
	switch s.temperOf(lease.Partition) {
	case slow:
		<-ctx.Done()
		time.Sleep(s.drain / 2)
	case stuck:
		<-ctx.Done()
		time.Sleep(s.drain + s.ttl)
	case fails:
		if s.tired(ctx) {
			return errHandler
		}
	case panicking:
		if s.tired(ctx) {
			panic(errHandler)
		}
	default:
		<-ctx.Done()
	}
	return nil
}

// tired waits for the time after which a handler fails. It returns false if the context ends first.
func (s script) tired(ctx context.Context) bool {
	timer := time.NewTimer(s.interval() * 3 / 2)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
