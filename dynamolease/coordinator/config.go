package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Config says what a node takes part in.
type Config struct {
	// Service is the name that the nodes of one fleet share; members are listed by service.
	// Required.
	Service string

	// Node names this process. A process that restarts may use its name again: the leases of the
	// former process stay with that one until its session expires. When two processes run under
	// one name at the same time, the one that joined first hands over and stops, also when it was
	// cut off in between and has opened another session. Required; no '#'.
	Node string

	// Address is where others reach this node; the list of members shows it. Required.
	Address string

	// TTL is how long the node's leases outlive its last sign of life: for so long nobody works its
	// partitions after a crash. Defaults to 15 seconds; at least 1 second, at most a year. Ten nodes then
	// cost some $4 a month, and bear requests that fail for ten seconds. Half of it would cost twice as
	// much, and lose leases to a pause of a busy process.
	TTL time.Duration

	// Interval is how long a round takes: in each, the node sends a heartbeat, reads the members,
	// and acts on them. Defaults to a third of TTL; at least 50 ms, and less than half of TTL.
	Interval time.Duration

	// Look is how often the node looks at the members in between, to see sooner what has changed. A look
	// costs half a read unit for each 8 KB of members. Defaults to Interval; at least 100 ms, and at most
	// Interval.
	Look time.Duration

	// Hint is called when other nodes should look at the members now, with those that take part in
	// this node's groups: this node has joined, has given something up, or has found a node dead. They
	// are told by calling [Coordinator.Look] there. The table stays the only truth: a hint that is lost
	// costs time and nothing else. It is called from a goroutine of its own, one call at a time, so that
	// one that hangs keeps back other hints and nothing else. A panic is logged. Run makes a last call
	// when it has given up everything, and waits for that call for up to a second; then ctx ends.
	// Defaults to none; package hint has one that sends requests over HTTP.
	Hint func(ctx context.Context, others []dynamolease.Member)

	// Groups are the groups of partitions that this node takes part in. At least one, each name
	// once.
	Groups []Group

	// LeaseMode is how leases are kept. Defaults to [Sessions].
	LeaseMode LeaseMode

	// UnhealthyAfter is how many times in a row a handler must fail until [Coordinator.Health] is an
	// error, with the partition that it fails for. Defaults to 5: some 15 seconds after the first
	// failure of a handler that fails at once.
	UnhealthyAfter int

	// Hooks are called with what the node does, for metrics. Defaults to none.
	Hooks Hooks

	// Logger gets what an operator should know. Records wait in a queue, so that a slow handler delays
	// nothing: at most 1,000, and further ones are left out and counted ([State].Dropped). At its end,
	// Run waits for them at most a second. More than 20 partitions that come or go in a round are one
	// record with their count. Defaults to [slog.Default].
	Logger *slog.Logger
}

// A Group is a number of partitions that the nodes that list it share.
type Group struct {
	// Name is the lease group. It stands for one set of partitions in the whole table, and one service
	// works it: a node of another service takes nothing of it while that has nodes which take part.
	// Required.
	Name string

	// Partitions is how many there are: 0 to Partitions-1. At least 1 and at most 1,000,000.
	//
	// Nodes with different numbers may run side by side, each with its own. So a rolling deployment can
	// add partitions, and can be rolled back. Only nodes with the greater number take those that were
	// added, and all shares are as equal as that allows. Partitions beyond the numbers of all nodes are
	// not worked.
	Partitions int

	// Handler works one partition. Required.
	Handler Handler

	// DrainTimeout is how long a handler may go on after its context ended with [ErrRevoked] or
	// [ErrShutdown]. The lease is kept meanwhile; then the partition is given away all the same.
	// Defaults to TTL, at most a day.
	DrainTimeout time.Duration

	// Exclude lists partitions that this node must not take. The other nodes know them from the list of
	// members: they take these, and give this node others in their place where they can. At most 1,000
	// runs of consecutive numbers, of all groups together. Defaults to none.
	Exclude []int

	// MovesPerRound bounds how many partitions this node gives up in one round. Defaults to no
	// bound.
	MovesPerRound int
}

// A Handler works one partition while this node owns it. It must return soon after ctx has ended;
// [context.Cause] tells why. [ErrRevoked] and [ErrShutdown] leave time to finish: the lease is kept
// until the handler returns, at most for DrainTimeout. [ErrLost] leaves none: another node may work
// the partition already.
//
// A handler that returns an error or panics while the node still owns the partition is called
// again, after a delay that grows. A handler that returns nil is done: the partition stays this
// node's, and is not worked again until it changes hands.
type Handler func(ctx context.Context, assignment Assignment) error

// A LeaseMode is how the leases of a node are kept.
type LeaseMode int

const (
	// Sessions keeps any number of leases by the one heartbeat of the node.
	Sessions LeaseMode = iota
	// PerLease renews each lease, as [dynamolease.Store.Renew] does. It makes leases independent
	// of each other. A table without transactions needs [dynamolease.EachItem] for it.
	PerLease
)

const (
	defaultTTL      = 15 * time.Second
	roundsPerTTL    = 3
	minInterval     = 50 * time.Millisecond
	maxPartitions   = 1_000_000
	maxDrainTimeout = 24 * time.Hour

	defaultUnhealthyAfter = 5
)

// withDefaults returns a copy of c in which every field has a value.
func (c Config) withDefaults() Config {
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.Interval == 0 {
		c.Interval = c.TTL / roundsPerTTL
	}
	if c.Look == 0 {
		c.Look = c.Interval
	}
	if c.UnhealthyAfter == 0 {
		c.UnhealthyAfter = defaultUnhealthyAfter
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Groups = append([]Group(nil), c.Groups...)
	for i := range c.Groups {
		if c.Groups[i].DrainTimeout == 0 {
			c.Groups[i].DrainTimeout = min(c.TTL, maxDrainTimeout)
		}
	}
	return c
}

// validate names the first field that cannot work.
func (c Config) validate() error {
	switch {
	case c.Service == "":
		return refuse("Config.Service", "must not be empty")
	case c.Node == "":
		return refuse("Config.Node", "must not be empty")
	case strings.Contains(c.Node, "#"):
		return refuse("Config.Node", "must not contain '#', which stands between a node and its session")
	case c.Address == "":
		return refuse("Config.Address", "must not be empty")
	case c.TTL < dynamolease.MinTTL:
		return refuse("Config.TTL", "%v is too short, at least %v is needed", c.TTL, dynamolease.MinTTL)
	case c.TTL > dynamolease.MaxTTL:
		return refuse("Config.TTL", "%v is too long, at most %v are allowed", c.TTL, dynamolease.MaxTTL)
	case c.Interval < minInterval:
		return refuse("Config.Interval", "%v is too short, at least %v is needed", c.Interval, minInterval)
	case c.Interval >= c.TTL/2:
		return refuse("Config.Interval", "%v leaves no time for a second heartbeat within the ttl of %v: it must be less than half", c.Interval, c.TTL)
	case c.Look < min(minLook, c.Interval) || c.Look > c.Interval:
		return refuse("Config.Look", "%v is out of range, %v to the interval of %v are allowed", c.Look, minLook, c.Interval)
	case c.LeaseMode != Sessions && c.LeaseMode != PerLease:
		return refuse("Config.LeaseMode", "must be Sessions or PerLease")
	case c.UnhealthyAfter < 1:
		return refuse("Config.UnhealthyAfter", "%d is out of range, at least 1 is needed", c.UnhealthyAfter)
	case len(c.Groups) == 0:
		return refuse("Config.Groups", "must not be empty")
	}
	names, runs := make(map[string]bool), 0
	for i, g := range c.Groups {
		if err := g.validate(fmt.Sprintf("Config.Groups[%d]", i)); err != nil {
			return err
		}
		if names[g.Name] {
			return refuse(fmt.Sprintf("Config.Groups[%d].Name", i), "%q is there twice", g.Name)
		}
		names[g.Name] = true
		if runs += len(runsOf(g.Exclude)); runs > maxExcludedRuns {
			return refuse(fmt.Sprintf("Config.Groups[%d].Exclude", i), "makes more than %d runs of partitions in all groups", maxExcludedRuns)
		}
	}
	var argument *dynamolease.ArgumentError
	if err := c.node().Validate(); errors.As(err, &argument) {
		return refuse(fieldOf(argument.Argument), "%s", argument.Problem)
	}
	return nil
}

// node is how the node takes part in its service.
func (c Config) node() dynamolease.Node {
	node := dynamolease.Node{Service: c.Service, Name: c.Node, Address: c.Address, Takes: make(map[string]dynamolease.Takes)}
	for _, g := range c.Groups {
		node.Groups = append(node.Groups, g.Name)
		node.Takes[g.Name] = dynamolease.Takes{Partitions: g.Partitions, Except: runsOf(g.Exclude)}
	}
	return node
}

// fieldOf returns the field of Config that a field of a [dynamolease.Node] comes from.
func fieldOf(argument string) string {
	switch {
	case argument == "Node.Name":
		return "Config.Node"
	case strings.HasPrefix(argument, "Node.Groups["):
		return "Config" + strings.TrimPrefix(argument, "Node") + ".Name"
	default:
		return "Config" + strings.TrimPrefix(argument, "Node")
	}
}

func (g Group) validate(field string) error {
	switch {
	case g.Name == "":
		return refuse(field+".Name", "must not be empty")
	case g.Partitions < 1 || g.Partitions > maxPartitions:
		return refuse(field+".Partitions", "%d is out of range, 1 to %d are allowed", g.Partitions, maxPartitions)
	case g.Handler == nil:
		return refuse(field+".Handler", "must not be nil")
	case g.DrainTimeout < 0 || g.DrainTimeout > maxDrainTimeout:
		return refuse(field+".DrainTimeout", "%v is out of range, 0 to %v are allowed", g.DrainTimeout, maxDrainTimeout)
	case g.MovesPerRound < 0:
		return refuse(field+".MovesPerRound", "must not be negative")
	}
	for _, partition := range g.Exclude {
		if partition < 0 || partition >= g.Partitions {
			return refuse(field+".Exclude", "%d is not one of the %d partitions", partition, g.Partitions)
		}
	}
	return nil
}

func refuse(argument, format string, args ...any) error {
	return &dynamolease.ArgumentError{Argument: argument, Problem: fmt.Sprintf(format, args...)}
}
