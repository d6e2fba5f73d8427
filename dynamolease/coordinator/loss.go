package coordinator

import (
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// lost returns the cause of a context whose lease is over, with why it is, as far as that is known.
func lost(why error) error {
	if why == nil {
		return ErrLost
	}
	return fmt.Errorf("%w: %w", ErrLost, why)
}

// lostTo returns why a lease is over, whose partition this holder has now: nobody where it has no
// owner.
func lostTo(holder dynamolease.Lease) *dynamolease.LossError {
	if holder.Owner == "" {
		return &dynamolease.LossError{Reason: dynamolease.LossFreed}
	}
	return &dynamolease.LossError{Reason: dynamolease.LossTaken, Owner: holder.Owner, Epoch: holder.Epoch}
}

// errOperator is the cause where an operator has taken a partition from this node.
var errOperator = fmt.Errorf("%w: %w", ErrRevoked, &dynamolease.LossError{Reason: dynamolease.LossRevoked})
