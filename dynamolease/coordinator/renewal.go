package coordinator

import (
	"errors"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A renewal is what became of the latest attempt to renew a plain lease.
type renewal struct {
	ends       time.Time // until when the lease is good, as it was last renewed
	unanswered error     // of an attempt since; nil if there was none
}

// errNotAnswered is what is behind the end of a lease whose renewal is on its way still.
var errNotAnswered = errors.New("a renewal was not answered yet")

// maxOff is by how much a lease ends before or after its time at the most, unless the process or the
// machine stood still.
const maxOff = time.Second

// loss returns why the lease has run out.
func (r *renewal) loss() error {
	switch {
	case time.Since(r.ends).Abs() > maxOff:
		return &dynamolease.LossError{Reason: dynamolease.LossSuspended}
	case r.unanswered != nil:
		return &dynamolease.LossError{Reason: dynamolease.LossUnreachable, Err: r.unanswered}
	default:
		return &dynamolease.LossError{Reason: dynamolease.LossExpired}
	}
}
