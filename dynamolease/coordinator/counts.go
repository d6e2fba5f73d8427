package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// ErrPartitions is wrapped by the error that [Coordinator.Health] returns when the members of a group
// have had different numbers of partitions for an hour, see [GroupState.OtherCounts]. The node works
// all the same.
var ErrPartitions = errors.New("nodes have different numbers of partitions")

// countsPatience is for how long members may have different numbers of partitions, as in a rolling
// deployment that adds some, before Health says so.
const countsPatience = time.Hour

// compareCounts compares this node's number of partitions of a group with those of the other members.
// It says once that they differ, and once that they do not any more.
func (c *Coordinator) compareCounts(ctx context.Context, g *group, members []dynamolease.Member) {
	var others map[string]int
	for _, m := range members {
		if n := m.Takes[g.Name].Partitions; n > 0 && n != g.Partitions {
			if others == nil {
				others = make(map[string]int)
			}
			others[m.Node] = n
		}
	}
	c.mu.Lock()
	news := (len(others) > 0) != (len(g.otherCounts) > 0)
	if news {
		g.countsDiffer = time.Now()
	}
	g.otherCounts = others
	c.mu.Unlock()
	switch {
	case news && others != nil:
		node := slices.Min(slices.Collect(maps.Keys(others)))
		c.logger.LogAttrs(ctx, slog.LevelWarn, "dynamolease: other nodes have another number of partitions, each works its own",
			slog.String("group", g.Name), slog.Int("partitions", g.Partitions), slog.Int("nodes", len(others)),
			slog.String("other", node), slog.Int("other_partitions", others[node]))
	case news:
		c.logger.InfoContext(ctx, "dynamolease: all nodes have one number of partitions again", "group", g.Name, "partitions", g.Partitions)
	}
}

// disagreement returns an error if the members of a group have had different numbers of partitions for
// too long. The caller holds the mutex.
func (c *Coordinator) disagreement() error {
	for _, g := range c.groups {
		if len(g.otherCounts) > 0 && time.Since(g.countsDiffer) >= countsPatience {
			return fmt.Errorf("group %s: this node has %d partitions, and %d others have another number since %v: %w",
				g.Name, g.Partitions, len(g.otherCounts), g.countsDiffer.UTC().Format(time.RFC3339), ErrPartitions)
		}
	}
	return nil
}
