package coordinator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// Nodes that exclude partitions, know of fewer, and give up few at a time, crash and come back with other
// settings, lose their sessions, and are drained. Afterwards all partitions are worked that some node may
// take, and the fleet rests.
func TestRandomCO27(t *testing.T) {
	t.Parallel()
	for seed := range testkit.Size[uint64](1, 30) {
		for _, mode := range []coordinator.LeaseMode{coordinator.Sessions, coordinator.PerLease} {
			t.Run(fmt.Sprint(seed, "/", mode), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					u := &unlike{world: w, random: rand.New(rand.NewPCG(seed, 27)), mode: mode, may: make(map[*node]map[int]bool)}
					u.run()
				})
			})
		}
	}
}

const unlikePartitions = 24

// An unlike fleet is one of nodes that differ.
type unlike struct {
	*world
	random *rand.Rand
	mode   coordinator.LeaseMode
	nodes  []*node
	may    map[*node]map[int]bool // which partitions each node may take
}

func (u *unlike) run() {
	for i := range 5 {
		u.nodes = append(u.nodes, u.join(fmt.Sprint("n", i)))
	}
	for range testkit.Size(5, 20) {
		time.Sleep(time.Duration(u.random.Int64N(int64(2 * ttl))))
		u.trouble()
	}
	time.Sleep(ttl + grace)
	worked := 0
	for partition := range unlikePartitions {
		for _, n := range u.nodes {
			if u.may[n][partition] {
				worked++
				break
			}
		}
	}
	u.within(40*round, fmt.Sprint("all of ", worked, " worked"), func() bool { return u.busy() == worked })
	time.Sleep(30 * round) // they give up few at a time
	u.quiet(u.nodes...)
	if u.busy() != worked {
		u.Errorf("%d of %d are worked", u.busy(), worked)
	}
	for _, n := range u.nodes {
		for _, partition := range u.works(n) {
			if !u.may[n][partition] {
				u.Errorf("%s works %d", n.name, partition)
			}
		}
	}
}

// join starts a node with settings of its own.
func (u *unlike) join(name string) *node {
	partitions, moves := unlikePartitions-6*u.random.IntN(2), u.random.IntN(3)
	first, n := u.random.IntN(unlikePartitions), u.random.IntN(unlikePartitions/2)
	if u.random.IntN(2) == 0 {
		n = 0
	}
	may := make(map[int]bool)
	var exclude []int
	for partition := range partitions {
		if may[partition] = partition < first || partition >= first+n; !may[partition] {
			exclude = append(exclude, partition)
		}
	}
	started := u.start(name, partitions, inMode(u.mode), grouped(func(g *coordinator.Group) {
		g.MovesPerRound, g.Exclude = moves, exclude
	}))
	u.may[started] = may
	return started
}

// trouble has something happen to a node.
func (u *unlike) trouble() {
	i := u.random.IntN(len(u.nodes))
	n := u.nodes[i]
	switch u.random.IntN(4) {
	case 0:
		n.crash()
		u.nodes[i] = u.join(n.name)
	case 1:
		n.stop()
		u.nodes[i] = u.join(n.name)
	case 2: // its session is over
		heal := n.path.Every("", dynamotest.Hang())
		time.AfterFunc(ttl+grace+round, heal)
	default:
		store := u.look()
		u.Cleanup(store.Close)
		if err := store.Drain(context.Background(), u.service, n.name); err != nil {
			u.Fatal(err)
		}
		time.AfterFunc(time.Duration(u.random.Int64N(int64(ttl))), func() {
			if err := store.Undrain(context.Background(), u.service, n.name); err != nil {
				u.Error(err)
			}
		})
	}
}
