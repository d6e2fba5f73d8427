package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	// A change is watched for at least windowTTLs, and until no node has looked at the owners for
	// quietRounds: the looks that follow from it belong to it.
	windowTTLs  = 6
	quietRounds = 2

	// changePatience is how long a step may take, and how long a change is watched. It counts all the
	// same.
	changePatience = 10 * time.Minute

	// deploymentParts are how many parts of a fleet are replaced, one after the other.
	deploymentParts = 10

	// startSpread is how far apart nodes may start that a system starts together.
	startSpread = time.Second

	changesGroup = "orders"
	changesSeed  = 1 // of the moments of the changes, and of the nodes that leave
)

var errPatience = errors.New("the shares are not even in time")

// A company is a fleet that changes.
type company struct {
	changesSpec
	drill
	*ledger
	server *dynamotest.Server
	table  string
	random *rand.Rand
	names  []string
	actors map[string]*actor
	gone   []*actor // that left in the change
	born   int      // nodes that were ever started
}

// The names of the events.
const (
	startAtOnce    = "start at once"
	startSpreadOut = "start in 1s" // startSpread
	noChange       = "none"
	crashes        = "crash"
	joins          = "join"
	stops          = "stop"
	deploys        = "deployment"
)

var eventNames = []string{startAtOnce, startSpreadOut, noChange, crashes, joins, stops, deploys}

// An event is a change, in steps. It has none if nothing changes.
type event struct {
	name  string
	steps []step
}

// A step is nodes that start, or that leave, at one moment.
type step struct {
	enter, leave int
	crash        bool          // is how they leave
	spread       time.Duration // of those that start together
}

// events are those that a fleet goes through. The nodes of the first one start at one moment, those of the
// next one within startSpread, and so on.
func (c changesSpec) events(fleet int) []event {
	start, join := event{startAtOnce, []step{{enter: c.Nodes}}}, event{joins, []step{{enter: 1}}}
	if fleet%2 == 1 {
		start = event{startSpreadOut, []step{{enter: c.Nodes, spread: startSpread}}}
	}
	list := []event{start, {noChange, nil}}
	for range c.Cycles {
		list = append(list, event{crashes, []step{{leave: 1, crash: true}}}, join, event{stops, []step{{leave: 1}}}, join)
	}
	if fleet < c.Deployments {
		deployment := event{name: deploys}
		for range deploymentParts {
			part := max(1, c.Nodes/deploymentParts)
			deployment.steps = append(deployment.steps, step{enter: part, spread: startSpread}, step{leave: part})
		}
		list = append(list, deployment)
	}
	return list
}

// changes starts the fleets, one after the other, and measures their changes.
func (l *lab) changes(ctx context.Context, spec changesSpec, d drill, progress func(*sample, []changeRow) error) ([]changeRow, error) {
	d.ttl = spec.TTL
	all := samples{spec: spec, progress: progress}
	random := rand.New(rand.NewPCG(changesSeed, changesSeed))
	for i := range spec.Fleets {
		table, err := l.freshTable()
		if err != nil {
			return nil, err
		}
		c := &company{changesSpec: spec, drill: d, ledger: newLedger(spec.Partitions), server: l.server, table: table,
			random: random, actors: make(map[string]*actor)}
		for _, e := range spec.events(i) {
			if err = c.change(ctx, e, &all); err != nil {
				err = fmt.Errorf("%s: %w", e.name, err)
				break
			}
		}
		l.server.Contend(table, dynamotest.Contention{})
		if err := errors.Join(err, c.close()); err != nil {
			return nil, err
		}
	}
	return all.rows(), nil
}

// change makes a change at some moment of a round, and watches it.
func (c *company) change(ctx context.Context, e event, all *samples) error {
	if err := rest(ctx, time.Duration(c.random.Int64N(int64(c.round())))); err != nil {
		return err
	}
	s := &sample{event: e.name}
	c.server.Contend(c.table, contention)
	c.begin()
	c.looked()
	begun := time.Now()
	for i, step := range e.steps {
		if i > 0 {
			s.looks = append(s.looks, c.looked()...)
		}
		err := c.take(ctx, step)
		if errors.Is(err, errPatience) {
			s.unfinished, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	s.over = time.Since(begun).Seconds()
	if err := c.watch(ctx, s, begun); err != nil {
		return err
	}
	s.looks = append(s.looks, c.looked()...)
	s.window, s.used = time.Since(begun).Seconds(), c.server.Usage(c.table)
	s.tally, s.twice = c.result()
	return errors.Join(all.add(s), c.clear())
}

// watch waits until a change is over and done with.
func (c *company) watch(ctx context.Context, s *sample, begun time.Time) error {
	err := rest(ctx, max(0, windowTTLs*c.TTL-quietRounds*c.round()-time.Since(begun)))
	for since := time.Now(); err == nil && time.Since(since) < changePatience; {
		before := c.looksSoFar()
		if err = rest(ctx, quietRounds*c.round()); c.looksSoFar() == before {
			return err
		}
	}
	s.unfinished = true
	return err
}

// take takes a step, and waits until the shares are even.
func (c *company) take(ctx context.Context, s step) error {
	leaving := c.choose(s.leave)
	for i := range s.enter {
		c.names = append(c.names, nodeName((c.born+i)*37%1000)) // in no order
	}
	entering := c.names[len(c.names)-s.enter:]
	c.born += s.enter
	for _, name := range leaving {
		if s.crash {
			c.crash(name)
		}
	}
	c.step(c.names)
	for _, name := range leaving {
		c.leave(name, s.crash)
	}
	for _, name := range entering {
		if err := c.enter(ctx, name, s.spread); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, changePatience, errPatience)
	defer cancel()
	return c.await(ctx)
}

// choose takes nodes out of the fleet: a part of a deployment is the oldest ones.
func (c *company) choose(n int) []string {
	from := 0
	if n == 1 && len(c.names) <= c.Nodes {
		from = c.random.IntN(len(c.names))
	}
	chosen := slices.Clone(c.names[from : from+n])
	c.names = slices.Delete(c.names, from, from+n)
	return chosen
}

// enter starts a node, some time within the spread.
func (c *company) enter(ctx context.Context, name string, spread time.Duration) error {
	a, err := c.actor(c.table)
	if err != nil {
		return err
	}
	c.actors[name] = a
	a.transport.Every("", jittered)
	a.begin(ctx, rand.N(spread+1), coordinator.Config{
		Service: "shop", Node: name, Address: address, TTL: c.TTL,
		Groups: []coordinator.Group{{Name: changesGroup, Partitions: c.Partitions, Handler: c.handler(name)}},
	})
	return nil
}

// jittered delays a request by [distance] in the mean: no two are equally fast.
func jittered(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	least := distance / 2
	delay := least + time.Duration(float64(distance-least)*min(rand.ExpFloat64(), 10))
	return dynamotest.Delay(delay)(req, send)
}

func (c *company) leave(name string, crash bool) {
	a := c.actors[name]
	delete(c.actors, name)
	c.gone = append(c.gone, a)
	if crash {
		a.crash()
	} else {
		a.exit()
	}
}

// looked returns how often each node has looked at the owners since the last call.
func (c *company) looked() (list []float64) {
	for _, a := range c.actors {
		list = append(list, float64(a.looks()))
		a.transport.Reset()
	}
	return list
}

func (c *company) looksSoFar() (sum int) {
	for _, a := range c.actors {
		sum += a.looks()
	}
	return sum
}

// looks returns how many first pages of the owners the node has asked for.
func (a *actor) looks() (n int) {
	for _, r := range a.transport.Requests() {
		if r.Op == "Query" && bytes.Contains(r.Body, []byte(changesGroup)) && !bytes.Contains(r.Body, []byte("ExclusiveStartKey")) {
			n++
		}
	}
	return n
}

// clear waits for the nodes that are gone.
func (c *company) clear() error {
	var errs []error
	for _, a := range c.gone {
		errs = append(errs, a.close())
	}
	c.gone = nil
	return errors.Join(errs...)
}

// close ends all nodes.
func (c *company) close() error {
	for name := range c.actors {
		c.leave(name, false)
	}
	return c.clear()
}
