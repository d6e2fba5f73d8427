package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	reapName     = "Reap"
	reapRows     = 100_000
	reapRounds   = 10
	reapInFlight = 32 // the deletes that Reap sends at a time
	reapTarget   = 0.9
)

// A reapingRow is the speed of cleaning a table of which 70 % is dead, in deleted rows a second: by
// Reap, which has to find them first, and by bare conditional DeleteItem calls on known rows.
type reapingRow struct {
	Rows      int      `json:"rows"`
	Dead      int      `json:"dead"`
	Library   float64  `json:"library_rows_per_second"`
	Loop      float64  `json:"loop_rows_per_second"` // bare, one delete after the other
	Bare      float64  `json:"bare_rows_per_second"` // bare, with as many in flight as the library
	LoopRatio estimate `json:"loop_ratio"`           // of the library's speed
	Ratio     estimate `json:"ratio"`
	PeakBytes int64    `json:"peak_bytes"`
	ReadUnits float64  `json:"read_units"`

	looped int // rows deleted by the loop
}

// A graveyard is a table of rows, seven in ten of them dead, with a party's names. It does not keep
// its rows, so that the peak of memory is the library's.
type graveyard struct {
	party
	rows  int
	begun time.Time
}

func isDead(row int) bool { return row%10 < 7 }

// dead returns how many of the first rows are dead.
func (g graveyard) dead(rows int) int { return rows/10*7 + min(rows%10, 7) }

// nth returns the number of the nth dead row.
func nth(dead int) int { return dead/7*10 + dead%7 }

// reaping cleans two equal tables in turns, one in each way.
func (b *bench) reaping(ctx context.Context) (row reapingRow, err error) {
	client := b.lab.client()
	library, err := b.lab.graveyard(ctx, client, b.rows)
	if err != nil {
		return row, err
	}
	bare, err := b.lab.graveyard(ctx, client, b.rows)
	if err != nil {
		return row, err
	}
	store, err := dynamolease.New(client, library.table)
	if err != nil {
		return row, err
	}
	defer store.Close()

	row = reapingRow{Rows: b.rows, Dead: library.dead(b.rows)}
	peak := watchPeak()
	var took [3]time.Duration // of the library, of the loop for a tenth of the rows, of the others in flight
	var loopRatios, ratios []float64
	share := (row.Dead + reapRounds - 1) / reapRounds
	for done := 0; done < row.Dead; {
		n := min(share, row.Dead-done)
		begun := time.Now()
		report, err := store.Reap(ctx, dynamolease.ReapConfig{Limit: n})
		if err != nil || report.Deleted != n {
			return row, fmt.Errorf("reaped %+v, not %d: %w", report, n, err)
		}
		ours := time.Since(begun)
		row.ReadUnits += report.ReadUnits

		tenth := done + (n+9)/10
		loop, err := bare.timedBury(ctx, done, tenth, 1)
		if err != nil {
			return row, err
		}
		theirs, err := bare.timedBury(ctx, tenth, done+n, reapInFlight)
		if err != nil {
			return row, err
		}
		took[0], took[1], took[2] = took[0]+ours, took[1]+loop, took[2]+theirs
		row.looped += tenth - done
		speed := float64(n) / ours.Seconds()
		loopRatios = append(loopRatios, speed*loop.Seconds()/float64(tenth-done))
		ratios = append(ratios, speed*theirs.Seconds()/float64(done+n-tenth))
		done += n
	}
	row.PeakBytes = peak()
	row.Library, row.Loop = float64(row.Dead)/took[0].Seconds(), float64(row.looped)/took[1].Seconds()
	row.Bare = float64(row.Dead-row.looped) / took[2].Seconds()
	row.LoopRatio, row.Ratio = speeds(row.Library/row.Loop, loopRatios), speeds(row.Library/row.Bare, ratios)
	return row, errors.Join(library.check(ctx), bare.check(ctx))
}

// speeds returns a ratio over all rounds, with the confidence interval of the single ones.
func speeds(ratio float64, rounds []float64) estimate {
	low, high := confidence(rounds)
	return estimate{ratio, low, high, len(rounds)}
}

// graveyard makes a table of its own, with seven dead rows in ten.
func (l *lab) graveyard(ctx context.Context, client *dynamodb.Client, rows int) (graveyard, error) {
	g := graveyard{party: l.party(client)}
	if g.table = l.server.Table(l); l.err != nil {
		return g, l.err
	}
	g.rows, g.begun = rows, time.Now()
	const chunk = 1000
	for first := 0; first < rows; first += chunk {
		part := make([]map[string]types.AttributeValue, min(chunk, rows-first))
		for i := range part {
			part[i] = g.grave(first + i)
		}
		if err := g.seed(ctx, part); err != nil {
			return g, err
		}
	}
	return g, nil
}

// grave returns the row of a lease: released a day ago, or held.
func (g graveyard) grave(partition int) map[string]types.AttributeValue {
	now := g.begun
	row := key("L#"+g.group, partitionKey(partition))
	row["epoch"] = number(now.UnixMilli())
	row["rev"] = text(uuid.NewSHA1(uuid.NameSpaceOID, []byte(partitionKey(partition))).String())
	if isDead(partition) {
		row["ttl"] = number(now.Add(-time.Hour).Unix())
		return row
	}
	row["owner"] = text(g.owner)
	row["exp"] = number(now.Add(ttl).UnixMilli())
	row["ttl"] = number(now.Add(25 * time.Hour).Unix())
	return row
}

// timedBury returns how long bury took.
func (g graveyard) timedBury(ctx context.Context, first, last, inFlight int) (time.Duration, error) {
	begun := time.Now()
	err := g.bury(ctx, first, last, inFlight)
	return time.Since(begun), err
}

// bury deletes the dead rows from first to last-1 by bare calls, with so many at a time.
func (g graveyard) bury(ctx context.Context, first, last, inFlight int) error {
	next := atomic.Int64{}
	next.Store(int64(first))
	errs := make([]error, inFlight)
	var running sync.WaitGroup
	for worker := range inFlight {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(last) && errs[worker] == nil; i = next.Add(1) - 1 {
				errs[worker] = g.buryOne(ctx, g.grave(nth(int(i))))
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

func (g graveyard) buryOne(ctx context.Context, row map[string]types.AttributeValue) error {
	_, err := g.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                           &g.table,
		Key:                                 map[string]types.AttributeValue{"pk": row["pk"], "sk": row["sk"]},
		ConditionExpression:                 aws.String("#ttl = :ttl AND #rev = :rev"),
		ExpressionAttributeNames:            map[string]string{"#ttl": "ttl", "#rev": "rev"},
		ExpressionAttributeValues:           map[string]types.AttributeValue{":ttl": row["ttl"], ":rev": row["rev"]},
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

// check counts the rows that are left, which must be the live ones.
func (g graveyard) check(ctx context.Context) error {
	left := 0
	pages := dynamodb.NewScanPaginator(g.client, &dynamodb.ScanInput{
		TableName: &g.table, ConsistentRead: aws.Bool(true), Select: types.SelectCount,
		FilterExpression:          aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text("L#" + g.group)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("count rows: %w", err)
		}
		left += int(page.Count)
	}
	if live := g.rows - g.dead(g.rows); left != live {
		return fmt.Errorf("%d rows are left, %d are live", left, live)
	}
	return nil
}

func (r *reapingRow) table() table {
	return table{
		name: "reaping", title: "Reaping a table of which seven rows in ten are dead",
		rows: [][]string{
			{"rows", "dead", "library rows/s", "bare loop rows/s", "ratio", "95 %", "bare, in flight", "ratio", "95 %", "rounds", "read units", "peak MB"},
			{strconv.Itoa(r.Rows), strconv.Itoa(r.Dead), whole(r.Library), whole(r.Loop), r.LoopRatio.String(), r.LoopRatio.interval(),
				whole(r.Bare), r.Ratio.String(), r.Ratio.interval(),
				strconv.Itoa(r.Ratio.Rounds), whole(r.ReadUnits), whole(float64(r.PeakBytes) / (1 << 20))},
		},
		note: fmt.Sprintf(`The bare sides delete rows that they know, in a loop or with %d deletes on their way; the library has as many on their way, and has
to find the rows. The test server does one request at a time, so that each Scan takes the time of some sixty deletes.
Target: at least %.1f of the loop. The peak is of the heap and the stacks of this process.`, reapInFlight, reapTarget),
	}
}
