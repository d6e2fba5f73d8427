// Package hint tells other nodes over HTTP to look at the members now, so that a partition that moves
// in order is idle for a fraction of a second, and not until the next round.
//
// # Why a hint can do no harm
//
// A hint says nothing. It has no content, and the node that gets one believes nothing: it looks at the
// members in the table, as it does anyway in its next round, and at the owners of a group only if
// something has moved there. The table stays the only truth, and each acquisition is a conditional
// write on it.
//
//   - A hint that is lost, comes late or comes twice costs time or a look, and changes nothing else.
//   - Anybody may send one: it needs no secret. However many are forged, a node makes ten looks a second
//     at the most, each one read of the members.
//   - A receiver that hangs or is gone delays nothing but the hints after it, by a quarter of a second:
//     hints are sent from a goroutine of their own, which no heartbeat and no plan waits for.
//
// # Switch it on
//
// Two lines: the sender goes into the configuration, and the handler to where the others find it.
//
//	cfg.Hint = new(hint.Sender).Send
//	c, err := coordinator.New(store, cfg)
//	mux.Handle(hint.Path, hint.Handler(c.Look))
//
// By default others find it at [Path] of the node's Address, which is a host and a port that speak
// HTTP. A service whose Address is something else serves hints on a port of their own, see [OnPort], or
// says with [Sender].URL how to find it. Nodes with hints and nodes without them work side by side.
package hint
