package dynamolease

import "fmt"

// A LossReason says why a session or a lease was lost.
type LossReason string

const (
	LossTaken       LossReason = "taken"       // another holder has the lease
	LossFreed       LossReason = "freed"       // nobody has the lease: somebody has released it, or its row is gone
	LossGone        LossReason = "gone"        // the row is not there any more
	LossRevoked     LossReason = "revoked"     // an operator has taken the lease
	LossClosed      LossReason = "closed"      // somebody has marked the session as over
	LossUnreachable LossReason = "unreachable" // it expired while the store could not be reached
	LossSuspended   LossReason = "suspended"   // it expired while the process or the machine stood still
	LossExpired     LossReason = "expired"     // it expired, and nothing shows why it was not extended
	LossReplaced    LossReason = "replaced"    // another process has joined under the name of the node
)

// A LossError is why a session or a lease was lost, as far as this process knows without a request
// of its own. The error that wraps it says what was lost, such as [ErrSessionLost].
type LossError struct {
	Reason LossReason
	Owner  string // who has the lease, where Reason is [LossTaken]; empty otherwise
	Epoch  int64  // under which it has the lease; 0 otherwise
	// Err is what is behind it, such as the latest failure to reach the store; nil if unknown. It is not
	// wrapped: that the outcome of that one was unknown says nothing of the call that tells the loss.
	Err error
}

func (e *LossError) Error() string {
	text := map[LossReason]string{
		LossTaken:       fmt.Sprintf("taken by %s with epoch %d", e.Owner, e.Epoch),
		LossFreed:       "nobody has it any more",
		LossGone:        "its row is gone",
		LossRevoked:     "revoked by an operator",
		LossClosed:      "marked as over by another node",
		LossUnreachable: "expired while the store could not be reached",
		LossSuspended:   "expired while the process or the machine stood still",
		LossExpired:     "expired, not extended in time",
		LossReplaced:    "another process has joined under the name of the node",
	}[e.Reason]
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// sessionLost returns the error of a session that is over.
func sessionLost(reason LossReason, err error) error {
	return fmt.Errorf("%w: %w", ErrSessionLost, &LossError{Reason: reason, Err: err})
}
