package coordinator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// Configurations that cannot work are refused by name, before any request.
func TestConfig(t *testing.T) {
	group := func(change func(g *coordinator.Group)) func(c *coordinator.Config) {
		return func(c *coordinator.Config) { change(&c.Groups[1]) }
	}
	tests := map[string]struct {
		change func(c *coordinator.Config)
		field  string // "" when the configuration is good
	}{
		"as it is":               {func(c *coordinator.Config) {}, ""},
		"no service":             {func(c *coordinator.Config) { c.Service = "" }, "Config.Service"},
		"a node with a #":        {func(c *coordinator.Config) { c.Node = "a#b" }, "Config.Node"},
		"no node":                {func(c *coordinator.Config) { c.Node = "" }, "Config.Node"},
		"no address":             {func(c *coordinator.Config) { c.Address = "" }, "Config.Address"},
		"short ttl":              {func(c *coordinator.Config) { c.TTL = time.Second - 1 }, "Config.TTL"},
		"negative ttl":           {func(c *coordinator.Config) { c.TTL = -time.Second }, "Config.TTL"},
		"shortest ttl":           {func(c *coordinator.Config) { c.TTL = time.Second }, ""},
		"C50/half the ttl":       {func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Second, 5*time.Second }, "Config.Interval"},
		"C50/just below":         {func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Second, 5*time.Second-1 }, ""},
		"C50/above the ttl":      {func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Second, 11*time.Second }, "Config.Interval"},
		"C50/of the default":     {func(c *coordinator.Config) { c.Interval = 15 * time.Second }, "Config.Interval"},
		"C25/nearly the ttl":     {func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Second, 10*time.Second-1 }, "Config.Interval"},
		"short interval":         {func(c *coordinator.Config) { c.Interval = 49 * time.Millisecond }, "Config.Interval"},
		"negative interval":      {func(c *coordinator.Config) { c.Interval = -1 }, "Config.Interval"},
		"strange lease mode":     {func(c *coordinator.Config) { c.LeaseMode = 2 }, "Config.LeaseMode"},
		"negative lease mode":    {func(c *coordinator.Config) { c.LeaseMode = -1 }, "Config.LeaseMode"},
		"no groups":              {func(c *coordinator.Config) { c.Groups = nil }, "Config.Groups"},
		"no group name":          {group(func(g *coordinator.Group) { g.Name = "" }), "Config.Groups[1].Name"},
		"duplicate group":        {group(func(g *coordinator.Group) { g.Name = "orders" }), "Config.Groups[1].Name"},
		"no partitions":          {group(func(g *coordinator.Group) { g.Partitions = 0 }), "Config.Groups[1].Partitions"},
		"negative partitions":    {group(func(g *coordinator.Group) { g.Partitions = -1 }), "Config.Groups[1].Partitions"},
		"too many partitions":    {group(func(g *coordinator.Group) { g.Partitions = 1_000_001 }), "Config.Groups[1].Partitions"},
		"most partitions":        {group(func(g *coordinator.Group) { g.Partitions = 1_000_000 }), ""},
		"no handler":             {group(func(g *coordinator.Group) { g.Handler = nil }), "Config.Groups[1].Handler"},
		"negative drain timeout": {group(func(g *coordinator.Group) { g.DrainTimeout = -1 }), "Config.Groups[1].DrainTimeout"},
		"endless drain timeout":  {group(func(g *coordinator.Group) { g.DrainTimeout = 24*time.Hour + 1 }), "Config.Groups[1].DrainTimeout"},
		"negative moves":         {group(func(g *coordinator.Group) { g.MovesPerRound = -1 }), "Config.Groups[1].MovesPerRound"},
		"excluded -1":            {group(func(g *coordinator.Group) { g.Exclude = []int{-1} }), "Config.Groups[1].Exclude"},
		"excluded beyond":        {group(func(g *coordinator.Group) { g.Exclude = []int{3, 4} }), "Config.Groups[1].Exclude"},
		"excluded twice":         {group(func(g *coordinator.Group) { g.Exclude = []int{3, 3} }), ""},
	}
	store := refusing(t)
	for name, test := range tests {
		t.Run("CO12/"+name, func(t *testing.T) {
			cfg := coordinator.Config{
				Service: "shop", Node: "a", Address: "a:1",
				Groups: []coordinator.Group{{Name: "orders", Partitions: 4, Handler: wait}, {Name: "mails", Partitions: 4, Handler: wait}},
			}
			test.change(&cfg)
			_, err := coordinator.New(store, cfg)
			switch {
			case test.field == "" && err != nil:
				t.Error(err)
			case test.field != "" && !isArgument(err, test.field):
				t.Errorf("%v, want one about %s", err, test.field)
			}
			if test.field != "" {
				if err := coordinator.Run(t.Context(), store, cfg); !isArgument(err, test.field) {
					t.Errorf("Run: %v", err)
				}
			}
		})
	}
}

// refusing is a store whose client would fail the test if it were used.
func refusing(t *testing.T) *dynamolease.Store {
	t.Helper()
	s := startServer(t)
	path := s.Transport()
	t.Cleanup(func() {
		if n := path.Count(""); n != 0 {
			t.Errorf("%d requests were made", n)
		}
		path.Close()
	})
	store, err := dynamolease.New(path.Client(), "table", func(o *dynamolease.Options) { o.Logger = slog.New(slog.DiscardHandler) })
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// What the store checks is refused without a request, too.
func TestConfigOfTheStore(t *testing.T) {
	store := refusing(t)
	for name, change := range map[string]func(c *coordinator.Config){
		"Config.Node":    func(c *coordinator.Config) { c.Node = strings.Repeat("a", 300) },
		"Config.Service": func(c *coordinator.Config) { c.Service = strings.Repeat("x", 5000) },
		"Config.TTL":     func(c *coordinator.Config) { c.TTL = 1 << 62 },
	} {
		t.Run("CO12/"+name, func(t *testing.T) {
			cfg := coordinator.Config{
				Service: "shop", Node: "a", Address: "a:1", Logger: slog.New(slog.DiscardHandler),
				Groups: []coordinator.Group{{Name: "orders", Partitions: 4, Handler: wait}},
			}
			change(&cfg)
			if err := coordinator.Run(t.Context(), store, cfg); !isArgument(err, name) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestConfigOfElect(t *testing.T) {
	store := refusing(t)
	cfg := coordinator.Config{Service: "shop", Node: "a", Address: "a:1"}
	if err := coordinator.Elect(t.Context(), store, cfg, "leader", nil); !isArgument(err, "lead") {
		t.Errorf("no lead: %v", err)
	}
	if err := coordinator.Elect(t.Context(), store, cfg, "", wait); !isArgument(err, "name") {
		t.Errorf("no name: %v", err)
	}
	cfg.Groups = []coordinator.Group{{Name: "orders", Partitions: 4, Handler: wait}}
	if err := coordinator.Elect(t.Context(), store, cfg, "leader", wait); !isArgument(err, "Config.Groups") {
		t.Errorf("groups: %v", err)
	}
}

func TestNewWithoutStore(t *testing.T) {
	if _, err := coordinator.New(nil, coordinator.Config{}); !isArgument(err, "store") {
		t.Error(err)
	}
}

// A missing table is told at once: trying again does not help.
func TestRunWithoutTable(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.table = "no-such-table"
		n := w.start("a", 4)
		<-n.over
		var setup *dynamolease.SetupError
		if !errors.As(n.err, &setup) {
			w.Error(n.err)
		}
	})
}

// A lease in a test of a user's handler is like one of the store.
func TestLeaseOfATest(t *testing.T) {
	if got := (coordinator.Assignment{Lease: dynamolease.Lease{Partition: 3}}).Remaining(); got != 0 {
		t.Error(got)
	}
	if err := wait(ended(), coordinator.Assignment{}); err == nil {
		t.Error("no cause")
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
