package dynamolease

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// positionKey is the key of the row in which a run of Reap that stops early keeps its place, and in
// which runs note when they looked at leases in sessions. The row is a hint: if it is lost, only time
// is lost. It has no ttl.
var positionKey = rowstore.Key{PK: "R#reaper", SK: "POSITION"}

// attrPosition is a list with the place of each segment: the key of the last row that was
// handled, an empty map for the beginning, or null for a segment that is done.
const attrPosition = "position"

// attrLooked is when the latest look at leases in sessions began, the store's time in milliseconds;
// attrLooking is 1 while that has not reached the end of the table.
const (
	attrLooked  = "looked"
	attrLooking = "looking"
)

// Reap looks at leases in sessions once on each day of the store's time: a row that it frees waits for
// its deletion for long anyway.
const dayMillis = 24 * 60 * 60 * 1000

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

// A bookmark is what the row of the position says.
type bookmark struct {
	places  position
	looked  int64
	looking bool
}

// looks returns the bookmark as a run begins with it: the run looks at leases in sessions if an
// earlier look has not reached the end, or none has begun today.
func (b bookmark) looks(at rowstore.Moment) bookmark {
	b.places = slices.Clone(b.places)
	if now := at.Latest(); !b.looking && b.looked/dayMillis != now/dayMillis {
		b.looked, b.looking = now, true
	}
	return b
}

func (b bookmark) equal(other bookmark) bool {
	return slices.Equal(b.places, other.places) && b.looked == other.looked && b.looking == other.looking
}

// moment returns a moment once the store's time is known.
func (r *reaping) moment(ctx context.Context) (rowstore.Moment, error) {
	return r.store.rows.AwaitTime(ctx, positionKey.PK, r.store.rows.Budget(0), r.store.rows.Timeout(0))
}

// bookmark reads where the last run stopped. It returns the beginning if that run reached the end, or
// had another number of segments.
func (r *reaping) bookmark(ctx context.Context) (b bookmark, err error) {
	row, _, err := r.store.rows.Get(ctx, positionKey, r.store.rows.Budget(0), r.store.rows.Timeout(0))
	if err != nil {
		return bookmark{}, err
	}
	if d := decode(row); d.Has(attrLooked) {
		b.looked, b.looking = d.Positive(attrLooked), d.Has(attrLooking)
	}
	var ok bool
	if b.places, ok = decodePosition(row[attrPosition], r.cfg.Segments); !ok {
		b.places = make(position, r.cfg.Segments)
	}
	return b, nil
}

// keep writes what the next run needs to know. ctx may have ended.
func (r *reaping) keep(ctx context.Context, before, after bookmark) {
	if after.places.complete() {
		after.looking = false
	}
	if after.places.complete() || r.badPlace.Load() {
		after.places = make(position, len(after.places))
	}
	if before.equal(after) {
		return
	}
	patience := positionPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := r.store.putBookmark(ctx, after); err != nil {
		r.store.logger.WarnContext(ctx, "dynamolease: the position was not kept, the next reaping begins where this one began", "table", r.store.rows.Name, "err", err)
	}
}

// putBookmark writes what the next run needs to know, and retries while there is no answer.
func (s *Store) putBookmark(ctx context.Context, b bookmark) error {
	list := []rowstore.Attribute{{Name: attrPosition}, {Name: attrLooked, Value: rowstore.Number(b.looked)}, {Name: attrLooking}}
	if b.places.resumes() {
		list[0].Value = b.places.value()
	}
	if b.looking {
		list[2].Value = rowstore.Number[int64](1)
	}
	update := s.rows.Update(positionKey, rowstore.Condition{}, list)
	if _, err := s.rows.Repeat(ctx, s.rows.First(0, 0), s.rows.Timeout(0), s.rows.Write(update)); err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	return nil
}
