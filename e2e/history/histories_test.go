package history

import (
	"fmt"
	"net/url"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// Random histories keep the promises of the library, whatever faults they meet.
func TestHistories(t *testing.T) {
	s, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	server := testkit.Server(t)
	if server.Endpoint() == "" {
		t.Skip("this test needs virtual time; TestHistoryInRealTime runs against DynamoDB itself")
	}
	sum := &figures{Seed: s.seed}
	begin := time.Now()
	var next atomic.Int64
	t.Run("all", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) + 1 {
			t.Run(fmt.Sprint("worker ", i), func(t *testing.T) {
				t.Parallel()
				for n := next.Add(1) - 1; n < int64(s.histories) && !sum.violated(); n = next.Add(1) - 1 {
					if s.duration > 0 && time.Since(begin) > s.duration {
						return
					}
					sum.add(one(t, server, s.seed+uint64(n), s.size))
				}
			})
		}
	})
	t.Logf("%v in %v", sum, time.Since(begin).Round(time.Second))
	if sum.Undecided > 0 {
		t.Errorf("%d searches took too long", sum.Undecided)
	}
	if err := sum.save(); err != nil {
		t.Error(err)
	}
}

// one plays and judges the history of a seed.
func one(t *testing.T, server *dynamotest.Server, seed uint64, s size) verdict {
	t.Helper()
	lender := &borrowed{T: t}
	defer lender.giveBack()
	endpoint, err := url.Parse(server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	on := stage{table: server.Table(lender), wire: wire{endpoint: endpoint}}
	var w *world
	synctest.Test(t, func(t *testing.T) {
		if w, err = play(t.Context(), on, seed, s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	})
	return report(t, w)
}

// report judges a history. The test fails if the history has a problem.
func report(t *testing.T, w *world) verdict {
	t.Helper()
	v, seed := w.judge(), w.seed
	for _, problem := range v.problems {
		t.Errorf("seed %d: %s", seed, problem)
	}
	if len(v.files) > 0 {
		t.Errorf("seed %d: PROOF_SEED=%d PROOF_HISTORIES=1 repeats this history; the files %v show all of it", seed, seed, v.files)
	}
	return v
}

// A borrowed is a test that gives a table back at the end of one history, not at the end of the
// test.
type borrowed struct {
	*testing.T
	cleanups []func()
}

func (b *borrowed) Cleanup(f func()) { b.cleanups = append(b.cleanups, f) }

func (b *borrowed) giveBack() {
	for _, f := range b.cleanups {
		f()
	}
}
