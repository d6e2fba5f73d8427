package coordinator

import "errors"

// Why the context of a handler has ended, see [context.Cause]. Compare with [errors.Is]: the cause
// says more, where this node knows more.
var (
	// ErrRevoked is the cause when the node gives the partition to another node, or an operator has
	// taken it (the cause then wraps a [dynamolease.LossError]): finish what must not stay half done, and return. The lease is kept until then.
	ErrRevoked = errors.New("partition revoked: this node gives it up")

	// ErrShutdown is the cause when this node stops (because it was replaced, if the cause wraps
	// [ErrReplaced]): finish what must not stay half done, and
	// return. The lease is kept until then.
	ErrShutdown = errors.New("the coordinator shuts down")

	// ErrLost is the cause when the lease is over: return at once, and write nothing more. Another
	// node may work the partition already. The cause wraps a [dynamolease.LossError] that says why the
	// lease is over, as far as this node knows.
	ErrLost = errors.New("lease lost")
)

// ErrReplaced is returned by Run when another process, or another Run or Elect of this one, has
// joined the service under this node's name later than this one, and is alive. Run has handed the
// partitions over and stopped.
var ErrReplaced = errors.New("another process, or another Run or Elect of this one, has joined under the name of this node")
