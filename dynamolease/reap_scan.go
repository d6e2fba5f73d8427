package dynamolease

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// scanPage is the number of rows that a Scan reads at a time. It is small enough for a function
// with little memory, and to stop in time.
const scanPage = 1000

// A duePage holds the rows of one page of a Scan that Reap has to do with, and the place after that
// page.
type duePage struct {
	rows  []rowstore.Item
	at    rowstore.Moment
	due   int64 // a row with a ttl up to here is due
	after scanPlace
}

// segment reaps one segment from a place, and returns the place where it stopped. It reads the next
// page while it sweeps one.
func (r *reaping) segment(ctx context.Context, number int, from scanPlace) scanPlace {
	pages := make(chan duePage)
	go func() {
		defer close(pages)
		r.scan(ctx, number, from, pages)
	}()
	for page := range pages {
		if r.sweep(ctx, page) {
			from = page.after
		}
	}
	return from
}

// scan reads a segment page by page, until the segment ends or the run ends.
func (r *reaping) scan(ctx context.Context, number int, from scanPlace, pages chan<- duePage) {
	for !from.done && !r.over.Load() {
		page, err := r.page(ctx, number, from)
		if err != nil {
			r.halt(ctx, err)
			return
		}
		pages <- page
		from = page.after
	}
}

// page reads the rows of one page whose ttl has passed or cannot be compared. The rows may be
// stale: the condition of the delete decides whether a row is deleted.
func (r *reaping) page(ctx context.Context, number int, from scanPlace) (duePage, error) {
	at, err := r.moment(ctx)
	if err != nil {
		return duePage{}, err
	}
	input := r.scanInput(number, from, at)
	var out *dynamodb.ScanOutput
	sent := r.send(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = r.store.client.Scan(ctx, input, opt)
		return err
	})
	if sent.err != nil {
		// If the store refuses a place, that place must not end every later run.
		failed := request.Classify(sent.err) == request.Failed
		r.badPlace.CompareAndSwap(false, failed && from != scanPlace{})
		return duePage{}, sent.err
	}
	r.note(func(report *ReapReport) {
		report.Scanned += int(out.ScannedCount)
		report.ReadUnits += request.Units(out)
	})
	return duePage{out.Items, at.AsOf(sent.answer), r.dueBy(at), placeAfter(out.LastEvaluatedKey)}, nil
}

// dueBy returns the ttl up to which a row is due.
func (r *reaping) dueBy(at rowstore.Moment) int64 {
	return (at.Earliest() - r.cfg.Grace.Milliseconds()) / 1000
}

// dueFilter takes the rows whose ttl has passed. The report must name a ttl that is not a number,
// which cannot be compared, and a row that lacks some of what says who holds the lease.
const dueFilter = "#ttl <= :due OR attribute_exists(#ttl) AND NOT attribute_type(#ttl, :number)" +
	" OR begins_with(#pk, :leases) AND NOT (" +
	"attribute_not_exists(#owner) AND attribute_not_exists(#exp) AND attribute_not_exists(#service) AND attribute_not_exists(#session)" +
	" OR attribute_exists(#owner) AND attribute_exists(#exp) AND attribute_not_exists(#service) AND attribute_not_exists(#session)" +
	" OR attribute_exists(#owner) AND attribute_not_exists(#exp) AND attribute_exists(#service) AND attribute_exists(#session))"

func (r *reaping) scanInput(number int, from scanPlace, at rowstore.Moment) *dynamodb.ScanInput {
	input := &dynamodb.ScanInput{
		TableName:         &r.store.rows.Name,
		ExclusiveStartKey: from.start(),
		Limit:             aws.Int32(scanPage),
		FilterExpression:  aws.String(dueFilter),
		// These are all attributes that judgeDue needs. A checkpoint, which may be large, is not.
		ProjectionExpression: aws.String("#pk, #sk, #rev, #exp, #ttl, #owner, #epoch, #service, #session, #node, #address, #opened, #left, #drained"),
		ExpressionAttributeNames: map[string]string{
			"#pk": rowstore.AttrPK, "#sk": rowstore.AttrSK, "#rev": rowstore.AttrRev, "#exp": attrExp, "#ttl": attrTTL, "#owner": attrOwner, "#epoch": attrEpoch,
			"#service": attrService, "#session": attrSession, "#node": attrNode, "#address": attrAddress, "#opened": attrOpened, "#left": attrLeft, "#drained": attrDrained,
		},
		ExpressionAttributeValues: rowstore.Item{
			":due": rowstore.Number(r.dueBy(at)), ":number": rowstore.Text("N"), ":leases": rowstore.Text(leasePrefix),
		},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if r.looking {
		input.FilterExpression = aws.String(dueFilter + " OR begins_with(#pk, :leases) AND attribute_exists(#session)")
	}
	if r.cfg.Segments > 1 {
		input.Segment, input.TotalSegments = aws.Int32(int32(number)), aws.Int32(int32(r.cfg.Segments))
	}
	return input
}

// sweep deletes those rows of a page that it may delete, and frees leases of sessions that are over.
// It returns false if the run ended before the page was done.
func (r *reaping) sweep(ctx context.Context, page duePage) bool {
	if r.over.Load() {
		return false
	}
	var due []dueRow
	var inSessions []leaseRow
	for _, row := range page.rows {
		seen, err := judgeDue(row, page.at)
		seen.due = isDue(row, page.due)
		if seen.due {
			r.note(func(report *ReapReport) { report.Due++ })
		}
		if err == nil && r.looking && seen.lease.inSession() {
			inSessions = append(inSessions, seen.lease)
		}
		switch {
		case err != nil:
			r.unreadable(err)
		case !seen.due:
		case seen.kept:
			r.note(func(report *ReapReport) { report.Kept++ })
		default:
			due = append(due, seen)
		}
	}
	r.freeLeases(ctx, inSessions)
	_ = rowstore.Parallel(len(due), writesInFlight, func(i int) error {
		r.delete(ctx, due[i])
		return nil
	})
	return !r.over.Load()
}

// delete deletes one row if the row is still as the scan saw it.
func (r *reaping) delete(ctx context.Context, due dueRow) {
	if !r.mayWrite(ctx) {
		return
	}
	input := r.deleteInput(due)
	var units float64
	sent := r.send(ctx, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		out, err := r.store.client.DeleteItem(ctx, input, opt)
		if err == nil {
			units = request.Units(out)
		}
		return err
	})
	left, refused := sent.refused()
	switch {
	case sent.err == nil, refused && sent.unanswered && len(left) == 0:
		r.note(func(report *ReapReport) { report.Deleted++; report.WriteUnits += units })
	case refused:
		r.note(func(report *ReapReport) { report.Raced++ })
	default:
		if sent.unanswered {
			r.note(func(report *ReapReport) { report.Unanswered++ })
		}
		r.halt(ctx, sent.err)
	}
}

func (r *reaping) deleteInput(due dueRow) *dynamodb.DeleteItemInput {
	asSeen := rowstore.Condition{Equal: []rowstore.Attribute{
		{Name: attrTTL, Value: &types.AttributeValueMemberN{Value: due.ttl}}, {Name: rowstore.AttrRev},
	}}
	if due.rev != "" { // a fence has none: only its ttl ever changes
		asSeen.Equal[1].Value = rowstore.Text(due.rev)
	}
	d := r.store.rows.Delete(due.key, asSeen)
	return &dynamodb.DeleteItemInput{
		TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression,
		ExpressionAttributeNames: d.ExpressionAttributeNames, ExpressionAttributeValues: d.ExpressionAttributeValues,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
		ReturnValuesOnConditionCheckFailure: d.ReturnValuesOnConditionCheckFailure,
	}
}
