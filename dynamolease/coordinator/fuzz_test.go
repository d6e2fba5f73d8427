package coordinator

import (
	"context"
	"errors"
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
	f.Fuzz(func(t *testing.T, service, node, address string, ttl, interval int64, name string, partitions int, drain int64, exclude, moves, mode int) {
		g := Group{
			Name: name, Partitions: partitions, DrainTimeout: time.Duration(drain), MovesPerRound: moves,
			Handler: func(context.Context, Assignment) error { return nil },
		}
		if exclude != 0 {
			g.Exclude = []int{exclude}
		}
		cfg := Config{
			Service: service, Node: node, Address: address, TTL: time.Duration(ttl), Interval: time.Duration(interval),
			Groups: []Group{g}, LeaseMode: LeaseMode(mode),
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
