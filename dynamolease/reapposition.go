package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// positionKey is the row in which a run of Reap that ends early keeps where it got to. It is a hint: with it nothing is
// lost but time. It has no ttl.
var positionKey = key{"R#reaper", "POSITION"}

// attrPosition is a list with the place of each segment: the key of the last row that was seen to, an empty map for the
// beginning, null for a segment that is done.
const attrPosition = "position"

// positionPatience bounds the write of the position, which also goes out when the context was just cancelled. Half of the time
// until the context's deadline is for the caller.
const positionPatience = time.Second

// A scanPlace is where in its segment a run is: after a row, at the beginning (the zero value), or done.
type scanPlace struct {
	after key
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
func placeAfter(last item) scanPlace {
	if len(last) == 0 {
		return scanPlace{done: true}
	}
	return scanPlace{after: decode(last).key}
}

// start is the place as a Scan wants it.
func (p scanPlace) start() item {
	if p == (scanPlace{}) {
		return nil
	}
	return p.after.attributes()
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
			if d.err != nil {
				return nil, false
			}
			p[i].after = d.key
		default:
			return nil, false
		}
	}
	return p, !p.complete()
}

// position reads where the last run got to: the beginning if it got to the end, or was one of another number of segments.
func (r *reaping) position(ctx context.Context) (position, error) {
	row, _, err := r.store.get(ctx, positionKey, r.store.budget(0), r.store.timeout(0))
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
		r.store.logger.WarnContext(ctx, "dynamolease: the next reaping begins where this one did", "table", r.store.table, "err", err)
	}
}

// putPosition is one write, or several where it stays unanswered; nil is for the beginning.
func (s *Store) putPosition(ctx context.Context, value types.AttributeValue) error {
	e := newExpression([]attribute{{attrPosition, value}}, nil)
	input := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: positionKey.attributes(), UpdateExpression: &e.update,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}
	_, err := s.repeat(ctx, s.budget(0), s.timeout(0), func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.UpdateItem(ctx, input, opt)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	return nil
}
