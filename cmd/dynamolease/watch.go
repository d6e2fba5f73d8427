package main

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/watch"
)

func (p *program) watch() *cobra.Command {
	c := &cobra.Command{
		Use: "watch SERVICE [GROUP...]", Short: "Watch members, owners and moves as they happen",
		Long: `Shows the members of a service with their shares, the partitions of its groups by owner, and each move. Without groups it shows
those that the members list. In the grids the number of a member stands for it, and a dot for a partition without an owner.
Partitions whose owner is no longer a member are shown in red. How many partitions a group has is not in the table: free ones
above all that were held since the start are not shown.

On a terminal it shows a picture that follows the terminal's size. Elsewhere it prints a line for each change, with --json as
JSON; the first JSON line lists everything that is held as moves from nobody. End it with q or Ctrl-C. Each look reads the
members and the groups, and the picture shows the read units.`,
		Args: takes("SERVICE", "GROUP..."),
	}
	interval := c.Flags().Duration("interval", 2*time.Second, "the time from one look to the next, at least 100ms")
	bound(c.Flags(), "interval", "must be at least 100ms", func() bool { return *interval >= 100*time.Millisecond })
	timeout := c.Flags().Duration("timeout", 5*time.Second, "how long one look at the table may hang before that is said")
	bound(c.Flags(), "timeout", "must be more than 0", func() bool { return *timeout > 0 })
	noColor := c.Flags().Bool("no-color", false, "no colours (or set NO_COLOR)")
	plain := c.Flags().Bool("plain", false, "print plain lines also on a terminal")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("timeout") {
			p.timeout = *timeout // otherwise the login has as long as elsewhere
		}
		cfg := watch.Config{
			Service: args[0], Groups: args[1:], Interval: *interval, Look: *timeout,
			Style: p.watchStyle(*plain, *noColor), Out: p.out,
		}
		if p.asks {
			cfg.In = p.in
		}
		if cfg.Style == watch.Mono || cfg.Style == watch.Color {
			defer p.holdErrors()()
		}
		conn, err := p.connect(c.Context())
		if err != nil {
			return err
		}
		defer conn.close()
		cfg.Store, cfg.Meter = conn.Store, conn.meter
		return watch.Run(c.Context(), cfg)
	}
	return c
}

func (p *program) watchStyle(plain, noColor bool) watch.Style {
	switch {
	case p.json:
		return watch.JSON
	case plain || !canDraw(p.out):
		return watch.Lines
	case noColor || os.Getenv("NO_COLOR") != "":
		return watch.Mono
	default:
		return watch.Color
	}
}

// holdErrors holds back stderr, which would spoil the picture, until the returned function is
// called.
func (p *program) holdErrors() (release func()) {
	stderr, held := p.err, new(bytes.Buffer)
	p.err = held
	return func() {
		p.err = stderr
		_, _ = held.WriteTo(stderr) // there is nowhere to report an error
	}
}

// canDraw reports whether an output is a terminal that can show a moving picture.
func canDraw(out io.Writer) bool {
	f, ok := out.(*os.File)
	kind := os.Getenv("TERM")
	return ok && kind != "" && kind != "dumb" && term.IsTerminal(int(f.Fd()))
}
