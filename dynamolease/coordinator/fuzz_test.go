package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Whatever the configuration: it is refused by the name of a field, or can work.
func FuzzConfig(f *testing.F) {
	f.Add("shop", "a", "a:1", int64(30*time.Second), int64(0), "orders", 100, int64(0), 7, 0, 0)
	f.Add("", "", "", int64(0), int64(0), "", 0, int64(-1), -1, -1, 2)
	f.Add("shop", "a#b", "a:1", int64(time.Second), int64(500*time.Millisecond), "orders", 1, int64(24*time.Hour), 0, 1, 1)
	f.Add("shop", "a", "a:1", int64(-1), int64(1<<62), "\xff", 1_000_001, int64(1<<62), 1_000_000, 1<<62, -1)
	f.Fuzz(func(t *testing.T, service, node, address string, ttl, interval int64, name string, partitions int, drain int64, exclude, moves, renewal int) {
		g := Group{
			Name: name, Partitions: partitions, DrainTimeout: time.Duration(drain), MovesPerRound: moves,
			Handler: func(context.Context, Lease) error { return nil },
		}
		if exclude != 0 {
			g.Exclude = []int{exclude}
		}
		cfg := Config{
			Service: service, Node: node, Address: address, TTL: time.Duration(ttl), Interval: time.Duration(interval),
			Groups: []Group{g}, Renewal: Renewal(renewal),
		}
		c, err := New(new(dynamolease.Store), cfg)
		if err != nil {
			var refused *dynamolease.ArgumentError
			if c != nil || !errors.As(err, &refused) || !strings.HasPrefix(refused.Argument, "Config.") || refused.Problem == "" {
				t.Errorf("%+v gives the error %v", cfg, err)
			}
			return
		}
		switch got := c.cfg; {
		case got.Service == "" || got.Node == "" || got.Address == "" || got.Groups[0].Name == "":
			t.Errorf("%+v has a name too few", got)
		case got.TTL < dynamolease.MinTTL || got.Interval < minInterval || got.Interval >= got.TTL/2:
			t.Errorf("%v leaves no time for a second heartbeat in %v", got.Interval, got.TTL)
		case got.Groups[0].Partitions < 1 || got.Groups[0].Partitions > maxPartitions || got.Groups[0].MovesPerRound < 0:
			t.Errorf("%+v cannot be shared", got.Groups[0])
		case got.Groups[0].DrainTimeout <= 0 || got.Groups[0].DrainTimeout > maxDrainTimeout:
			t.Errorf("a handler has %v to end", got.Groups[0].DrainTimeout)
		case exclude < 0 || exclude >= partitions:
			t.Errorf("%d of %d is excluded", exclude, partitions)
		}
		two := cfg
		two.Groups = append(two.Groups, g)
		if _, err := New(new(dynamolease.Store), two); err == nil {
			t.Errorf("%q is there twice", name)
		}
	})
}

// Whatever a node sees: shares differ by one at the most and add up to all partitions, a node gives up only what it has
// and is not to keep, and takes only what is free.
func FuzzPlan(f *testing.F) {
	f.Add(10, 3, 0, []byte{1, 1, 1, 1, 1, 2, 2, 2, 2, 2})
	f.Add(3, 7, 2, []byte{})
	f.Add(1, 1, 0, []byte{0xff})
	f.Add(40, 5, 9, []byte{1, 0x41, 0x81, 0xc1, 6, 7, 0, 3, 0x42})
	f.Add(5, 0, 0, []byte{1, 2, 1, 2, 9, 9, 9, 9})
	f.Fuzz(func(t *testing.T, partitions, members, me int, rows []byte) {
		partitions, members, me = 1+limit(partitions, 300), limit(members, 40), limit(me, 45)
		v := fuzzView(partitions, members, me, rows)
		p := newPlan(v)
		checkShares(t, v)
		for _, partition := range p.give {
			if !slices.Contains(v.mine, partition) || v.pinned[partition] && slices.Contains(v.members, v.me) {
				t.Errorf("%+v gives %d", v, partition)
			}
		}
		owned := func(partition int) bool {
			_, ok := v.owners[partition]
			return ok || slices.Contains(v.mine, partition)
		}
		for _, partition := range p.take {
			if partition < 0 || partition >= partitions || owned(partition) || v.barred[partition] {
				t.Errorf("%+v takes %d", v, partition)
			}
		}
		for _, list := range [][]int{p.give, p.take} {
			if len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
				t.Errorf("%+v has a partition twice: %v", v, list)
			}
		}
		if len(p.give) > 0 && len(p.take) > 0 || len(v.mine)-len(p.give) < p.share && len(p.give) > 0 {
			t.Errorf("%+v gives %v and takes %v with a share of %d", v, p.give, p.take, p.share)
		}
	})
}

// checkShares has each member plan on the same owners.
func checkShares(t *testing.T, v view) {
	t.Helper()
	if len(v.members) == 0 {
		return
	}
	sum := 0
	owners := make(map[int]string, len(v.owners))
	for partition, owner := range v.owners {
		owners[partition] = owner
	}
	for _, partition := range v.mine {
		owners[partition] = v.me
	}
	for _, member := range v.members {
		other := view{me: member, members: v.members, partitions: v.partitions, owners: owners}
		for partition, owner := range owners {
			if owner == member && partition < v.partitions {
				other.mine = append(other.mine, partition)
			}
		}
		slices.Sort(other.mine)
		share := newPlan(other).share
		sum += share
		if least := v.partitions / len(v.members); share != least && share != least+1 {
			t.Errorf("%+v: the share of %s is %d", v, member, share)
		}
	}
	if sum != v.partitions {
		t.Errorf("%+v: shares add up to %d", v, sum)
	}
}

// fuzzView is what a node sees of partitions whose rows these bytes are: the low bits say who owns one, where 0 is nobody and
// some are no members, and the high ones that it is barred or pinned. Rows beyond the partitions are of a larger group.
func fuzzView(partitions, members, me int, rows []byte) view {
	name := func(i int) string { return fmt.Sprintf("n%02d", i) }
	v := view{me: name(me), partitions: partitions, owners: make(map[int]string), barred: make(map[int]bool), pinned: make(map[int]bool)}
	for i := range members {
		v.members = append(v.members, name(i))
	}
	for partition, row := range rows {
		switch owner := int(row&0x3f) - 1; {
		case owner < 0:
		case name(owner) == v.me && partition < partitions && row&0x40 == 0:
			v.mine = append(v.mine, partition)
		case owner < 60:
			v.owners[partition] = name(owner)
		default:
			v.owners[partition] = "" // a former process of this node
		}
		if row&0x40 != 0 {
			v.barred[partition] = true
		}
		if row&0x80 != 0 {
			v.pinned[partition] = true
		}
	}
	return v
}

// limit brings a number between 0 and n-1.
func limit(number, n int) int { return (number%n + n) % n }
