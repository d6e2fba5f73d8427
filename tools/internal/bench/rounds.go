package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/internal/resync"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

const (
	// Rates of a fleet are for this ttl, with so many rounds in each.
	fleetTTL     = 10 * time.Second
	roundsPerTTL = 3

	// rateTarget bounds the units of either kind that a quiet fleet of ten nodes in sessions uses
	// in a second.
	rateTarget = 3.1
	targetSize = 1000

	mostRounds = 9
	roundLimit = time.Second // after which there is no further round
	manyLeases = 10_000
)

// fleetSizes are the numbers of leases, and distances the delays of the endpoints.
var (
	fleetSizes = []int{10, 100, 1000, 10_000}
	distances  = []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond}
)

// A roundRow is the cost of one round of a whole fleet in one way.
type roundRow struct {
	Way    string `json:"way"`
	Leases int    `json:"leases"`
	Nodes  int    `json:"nodes"`
	usage
	ReadRate  float64     `json:"read_units_per_second"` // at a ttl of 10 s
	WriteRate float64     `json:"write_units_per_second"`
	Month     float64     `json:"dollars_per_month"`
	Times     []roundTime `json:"times,omitempty"` // for each distance; none for a mean
}

// A roundTime is the time of a round: of all nodes at once, or of the slowest one if they take
// turns.
type roundTime struct {
	Distance float64 `json:"distance_ms"`
	Endpoint string  `json:"endpoint"`
	Millis   float64 `json:"ms"` // the median
	Rounds   int     `json:"rounds"`
}

// fleet measures all ways of keeping so many leases.
func (b *bench) fleet(ctx context.Context, leases int) ([]roundRow, error) {
	var rows []roundRow
	for _, w := range ways {
		row := roundRow{Way: w.name, Leases: leases, Nodes: fleetNodes}
		for _, distance := range distances {
			took, used, err := b.roundsAt(ctx, w, leases, distance)
			if err != nil {
				return nil, fmt.Errorf("%s, %v away: %w", w.name, distance, err)
			}
			row.Times = append(row.Times, took)
			if distance == 0 {
				row.usage = used
			}
		}
		rows = append(rows, row.rated())
	}
	return append(rows[:2:2], append([]roundRow{mean(rows[0], rows[1])}, rows[2:]...)...), nil
}

// mean is what a round of a fleet in sessions costs in the long run.
func mean(quiet, resync roundRow) roundRow {
	every := resyncEvery(quiet.Leases)
	average := func(a, b float64) float64 { return ((every-1)*a + b) / every }
	quiet.Way, quiet.Times = sessionMean, nil
	quiet.Requests = average(quiet.Requests, resync.Requests)
	quiet.ReadUnits = average(quiet.ReadUnits, resync.ReadUnits)
	quiet.WriteUnits = average(quiet.WriteUnits, resync.WriteUnits)
	return quiet.rated()
}

// resyncEvery is the mean number of rounds from one resync of a node to its next.
func resyncEvery(leases int) float64 {
	from, to := resync.Rounds(leases, fleetTTL/roundsPerTTL)
	return float64(from+to) / 2
}

func (r roundRow) rated() roundRow {
	perSecond := roundsPerTTL / fleetTTL.Seconds()
	r.ReadRate, r.WriteRate = r.ReadUnits*perSecond, r.WriteUnits*perSecond
	r.Month = dollars(r.ReadRate, r.WriteRate)
	return r
}

// roundsAt measures one way at one distance: at the test server for zero, otherwise at a stand-in.
func (b *bench) roundsAt(ctx context.Context, w way, leases int, distance time.Duration) (took roundTime, used usage, err error) {
	client, idle, done, err := b.lab.endpoint(distance, w.answered)
	if err != nil {
		return took, used, err
	}
	defer func() { err = errors.Join(err, done()) }()
	f := &fleet{party: b.lab.party(client), leases: leases}
	defer f.close()
	nodes, err := w.begin(ctx, f)
	if err != nil {
		return took, used, err
	}
	idle()
	if w.learns || leases < manyLeases { // otherwise there are few connections for the requests
		if _, err := w.time(ctx, nodes); err != nil {
			return took, used, err
		}
	}
	runtime.GC() // collects the garbage of the fleet before
	least := 1
	if w.learns && distance == 0 {
		least = 2 // a store sometimes reads more than it needs; the cheaper round counts
	}
	var times []float64
	for begun := time.Now(); len(times) < least || len(times) < min(mostRounds, b.rounds) && time.Since(begun) < roundLimit; {
		f.meter.take()
		one, err := w.time(ctx, nodes)
		if err != nil {
			return took, used, err
		}
		times = append(times, float64(one)/float64(time.Millisecond))
		if now := f.meter.take(); len(times) == 1 || now.Requests < used.Requests {
			used = now
		}
	}
	return roundTime{
		Distance: float64(distance) / float64(time.Millisecond), Endpoint: renewalOf{stand: distance > 0}.endpoint(),
		Millis: median(times), Rounds: len(times),
	}, used, nil
}

// endpoint returns a client of the test server, or of a stand-in at a distance. The stand-in passes
// everything on until idle is called.
func (l *lab) endpoint(distance time.Duration, answered []string) (client *dynamodb.Client, idle func(), done func() error, err error) {
	if distance == 0 {
		return l.client(), func() {}, func() error { return nil }, nil
	}
	stand, err := startStandIn(l.server.Endpoint(), distance, answered)
	if err != nil {
		return nil, nil, nil, err
	}
	stand.through.Store(true)
	client = l.client(func(o *dynamodb.Options) { o.BaseEndpoint = &stand.url })
	return client, func() { stand.through.Store(false) }, stand.close, nil
}

// time runs a round of each node, all at once or in turn. In turn, the slowest node counts.
func (w way) time(ctx context.Context, nodes []round) (time.Duration, error) {
	limit := len(nodes)
	if w.inTurn {
		limit = 1
	}
	begun := time.Now()
	each := make([]time.Duration, len(nodes))
	err := rowstore.Parallel(len(nodes), limit, func(i int) error {
		begun := time.Now()
		err := nodes[i](ctx)
		each[i] = time.Since(begun)
		return err
	})
	if w.inTurn {
		return slices.Max(each), err
	}
	return time.Since(begun), err
}
