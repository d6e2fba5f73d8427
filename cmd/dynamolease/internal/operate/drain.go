package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Prospect tells the user what follows if the node is drained, or that it already is.
func (s Standing) Prospect() string {
	text := leftOut(s.Malformed)
	switch {
	case s.Drained:
		text += fmt.Sprintf("%s of %s is drained already.\n", Printable(s.Node), Printable(s.Service))
	case s.Member:
		text += fmt.Sprintf("%s of %s holds %s.\n", Printable(s.Node), Printable(s.Service), s.holds())
		text += "It hands everything over and takes nothing, until it is undrained; restarts change nothing about that.\n"
	default:
		text += s.stranger() + fmt.Sprintf("If it is drained, a node of that name takes nothing when it joins. To undo it: %s\n", s.undo())
	}
	if s.Member && s.Others == 0 {
		text += "No other node could take over: the partitions will not be worked.\n"
	}
	return text
}

// Retrospect tells the user about a node before it is undrained.
func (s Standing) Retrospect() string {
	if s.Drained {
		return leftOut(s.Malformed) + s.line()
	}
	return s.stranger() + fmt.Sprintf("%s of %s is not drained: there is nothing to undo.\n", Printable(s.Node), Printable(s.Service))
}

// Drain drains a node, and waits until it holds nothing of the service's groups. If it still holds
// something at the end, Drain returns [ErrPending]. Other errors are those of
// [dynamolease.Store.Drain].
func (t *Table) Drain(ctx context.Context, service, node string, how Waiting) (Standing, error) {
	if err := how.look(ctx, func(ctx context.Context) error { return t.Store.Drain(ctx, service, node) }); err != nil {
		return Standing{Service: service, Node: node, Holds: []Share{}}, err
	}
	d := draining{table: t, how: &how, latest: Standing{Service: service, Node: node, Holds: []Share{}}}
	err := d.run(ctx)
	d.latest.Drained, d.latest.order = true, drained // also if it is not a member
	return d.latest, err
}

// Undrain reverts Drain.
func (t *Table) Undrain(ctx context.Context, before Standing) (Standing, error) {
	if err := t.Store.Undrain(ctx, before.Service, before.Node); err != nil {
		return before, err
	}
	s, err := t.Standing(ctx, before.Service, before.Node)
	s.order, s.before = undrained, before.Drained
	if err != nil {
		return s, fmt.Errorf("the node is undrained, but: %w", err)
	}
	return s, nil
}

// draining tracks a node while it hands over.
type draining struct {
	table   *Table
	how     *Waiting
	latest  Standing
	seen    bool  // at least one look succeeded
	failure error // of the latest look that failed
	told    string
}

func (d *draining) run(ctx context.Context) error {
	for d.how.begin(); ; {
		err := d.look(ctx)
		switch {
		case ctx.Err() != nil:
			return d.unfinished("interrupted")
		case err != nil:
			return err
		case d.seen && (d.how.Wait == 0 || len(d.latest.Holds) == 0):
			return nil
		case d.how.over():
			return d.unfinished(d.how.waited())
		}
		if !d.how.pause(ctx) {
			return d.unfinished("interrupted")
		}
	}
}

// look looks once. It returns an error if another look would be useless.
func (d *draining) look(ctx context.Context) error {
	var now Standing
	err := d.how.look(ctx, func(ctx context.Context) (err error) {
		now, err = d.table.Standing(ctx, d.latest.Service, d.latest.Node)
		return err
	})
	if err != nil {
		if d.failure = err; hopeless(err) {
			return fmt.Errorf("the node is drained, but: %w", err)
		}
		d.tell(fmt.Sprintf("looking again: %v", err))
		return nil
	}
	d.latest, d.seen = now, true
	if d.how.Wait > 0 && len(now.Holds) > 0 {
		d.tell(fmt.Sprintf("drained: %s still holds %s; waiting for %v at most", Printable(now.Node), now.holds(), d.how.Wait))
	}
	return nil
}

// tell passes each message on once.
func (d *draining) tell(text string) {
	if text != d.told {
		d.told = text
		d.how.Tell(text)
	}
}

func (d *draining) unfinished(why string) error {
	next := fmt.Sprintf("to look again: dynamolease drain %s %s --wait 1m; to undo it: %s", word(d.latest.Service), word(d.latest.Node), d.latest.undo())
	switch {
	case d.seen:
		return fmt.Errorf("%w: %s; the node stays drained and still holds %s; %s", ErrPending, why, d.latest.holds(), next)
	case d.failure != nil:
		return fmt.Errorf("%w: %s; the node is drained, and what it still holds is not known; %s: %w", ErrPending, why, next, d.failure)
	default:
		return fmt.Errorf("%w: %s; the node is drained, and what it still holds is not known; %s", ErrPending, why, next)
	}
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
