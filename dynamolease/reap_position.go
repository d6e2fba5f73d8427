package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// positionKey is the row in which a run of Reap that ends early keeps where it got to. It is a hint: with it nothing is
// lost but time. It has no ttl.
var positionKey = rowstore.Key{PK: "R#reaper", SK: "POSITION"}

// attrPosition is a list with the place of each segment: the key of the last row that was seen to, an empty map for the
// beginning, null for a segment that is done.
const attrPosition = "position"

// positionPatience bounds the write of the position, which also goes out when the context was just cancelled. Half of the time
// until the context's deadline is for the caller.
const positionPatience = time.Second

// A scanPlace is where in its segment a run is: after a row, at the beginning (the zero value), or done.
type scanPlace struct {
	after rowstore.Key
	done  bool
}

// A position is the places of all segments.
type position []scanPlace

func (p position) resumes() bool {
	return slices.ContainsFunc(p, func(at scanPlace) bool { return at != scanPlace{} })
}

func (p position) complete() bool {
	return !slices.ContainsFunc(p, func(at scanPlace) bool { return !at.done })
}

// placeAfter is the place after a page, from the last key that the page gives.
func placeAfter(last rowstore.Item) scanPlace {
	if len(last) == 0 {
		return scanPlace{done: true}
	}
	return scanPlace{after: decode(last).Key}
}

// start is the place as a Scan wants it.
func (p scanPlace) start() rowstore.Item {
	if p == (scanPlace{}) {
		return nil
	}
	return p.after.Item()
}

func (p position) value() types.AttributeValue {
	list := make([]types.AttributeValue, len(p))
	for i, at := range p {
		if at.done {
			list[i] = &types.AttributeValueMemberNULL{Value: true}
		} else {
			list[i] = &types.AttributeValueMemberM{Value: at.start()}
		}
	}
	return &types.AttributeValueMemberL{Value: list}
}

// decodePosition is false for what is no position of so many segments.
func decodePosition(value types.AttributeValue, segments int) (position, bool) {
	list, ok := value.(*types.AttributeValueMemberL)
	if !ok || len(list.Value) != segments {
		return nil, false
	}
	p := make(position, segments)
	for i, element := range list.Value {
		switch at := element.(type) {
		case *types.AttributeValueMemberNULL:
			p[i].done = true
		case *types.AttributeValueMemberM:
			if len(at.Value) == 0 {
				continue
			}
			d := decode(at.Value)
			if d.Err != nil {
				return nil, false
			}
			p[i].after = d.Key
		default:
			return nil, false
		}
	}
	return p, !p.complete()
}

// position reads where the last run got to: the beginning if it got to the end, or was one of another number of segments.
func (r *reaping) position(ctx context.Context) (position, error) {
	row, _, err := r.store.rows.Get(ctx, positionKey, r.store.rows.Budget(0), r.store.rows.Timeout(0))
	if err != nil {
		return nil, err
	}
	if p, ok := decodePosition(row[attrPosition], r.cfg.Segments); ok {
		return p, nil
	}
	return make(position, r.cfg.Segments), nil
}

// keep writes where the run got to, if the next one is to know it. ctx may have ended.
func (r *reaping) keep(ctx context.Context, before, after position) {
	if after.complete() || r.badPlace.Load() {
		after = make(position, len(after))
	}
	if slices.Equal(before, after) || !before.resumes() && !after.resumes() {
		return
	}
	patience := positionPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	value := after.value()
	if !after.resumes() {
		value = nil
	}
	if err := r.store.putPosition(ctx, value); err != nil {
		r.store.logger.WarnContext(ctx, "dynamolease: the next reaping begins where this one did", "table", r.store.rows.Name, "err", err)
	}
}

// putPosition is one write, or several where it stays unanswered; nil is for the beginning.
func (s *Store) putPosition(ctx context.Context, value types.AttributeValue) error {
	update := s.rows.Update(positionKey, rowstore.Condition{}, []rowstore.Attribute{{Name: attrPosition, Value: value}})
	if _, err := s.rows.Repeat(ctx, s.rows.Budget(0), s.rows.Timeout(0), s.rows.Write(update)); err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	return nil
}
