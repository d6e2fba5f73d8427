package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// positionKey is the key of the row in which a run of Reap that stops early keeps its place. The
// row is a hint: if it is lost, only time is lost. It has no ttl.
var positionKey = rowstore.Key{PK: "R#reaper", SK: "POSITION"}

// attrPosition is a list with the place of each segment: the key of the last row that was
// handled, an empty map for the beginning, or null for a segment that is done.
const attrPosition = "position"

// positionPatience bounds the write of the position. Reap writes it even if the context was just
// cancelled. It leaves half of the time until the context's deadline to the caller.
const positionPatience = time.Second

// A scanPlace is the place of a run in a segment: after a row, at the beginning (the zero value),
// or done.
type scanPlace struct {
	after rowstore.Key
	done  bool
}

// A position holds the places of all segments.
type position []scanPlace

// resumes reports whether any segment is past its beginning.
func (p position) resumes() bool {
	return slices.ContainsFunc(p, func(at scanPlace) bool { return at != scanPlace{} })
}

// complete reports whether all segments are done.
func (p position) complete() bool {
	return !slices.ContainsFunc(p, func(at scanPlace) bool { return !at.done })
}

// placeAfter returns the place after a page. last is the last key of the page.
func placeAfter(last rowstore.Item) scanPlace {
	if len(last) == 0 {
		return scanPlace{done: true}
	}
	return scanPlace{after: decode(last).Key}
}

// start returns the place as a Scan needs it.
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

// decodePosition returns false if value is not a position of so many segments, or if all of them
// are done.
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

// position reads where the last run stopped. It returns the beginning if that run reached the
// end, or had another number of segments.
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

// keep writes the place where the run stopped, if the next run needs it. ctx may have ended.
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
		r.store.logger.WarnContext(ctx, "dynamolease: the position was not kept, the next reaping begins where this one began", "table", r.store.rows.Name, "err", err)
	}
}

// putPosition writes the position, and retries while there is no answer. A nil value stands for the
// beginning.
func (s *Store) putPosition(ctx context.Context, value types.AttributeValue) error {
	update := s.rows.Update(positionKey, rowstore.Condition{}, []rowstore.Attribute{{Name: attrPosition, Value: value}})
	if _, err := s.rows.Repeat(ctx, s.rows.Budget(0), s.rows.Timeout(0), s.rows.Write(update)); err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	return nil
}
