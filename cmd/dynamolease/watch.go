package main

import (
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
those that the members list. The number of a member stands for it in the grids, a dot for a partition that nobody holds; red is
an owner that is no member any more. How many partitions a group has is not in the table, so that free ones above all that were
held since the start are not shown.

On a terminal it is a picture that follows the terminal's size; otherwise a line for each change, with --json as JSON: the first
line has all that is held as moves from nobody. End it with Ctrl-C. Each look reads the members and the groups: the read units
are shown.`,
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
			p.timeout = *timeout // without, who logs in has as long as with other commands
		}
		conn, err := p.connect(c.Context())
		if err != nil {
			return err
		}
		defer conn.close()
		resized, stop := notifyResize()
		defer stop()
		return watch.Run(c.Context(), watch.Config{
			Store: conn.Store, Meter: conn.meter, Service: args[0], Groups: args[1:], Interval: *interval, Look: *timeout,
			Style: p.watchStyle(*plain, *noColor), Out: p.out, Size: func() (int, int) { return sizeOf(p.out) }, Resized: resized,
		})
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

// canDraw tells whether an output is a terminal on which a picture can move.
func canDraw(out io.Writer) bool {
	f, ok := out.(*os.File)
	kind := os.Getenv("TERM")
	return ok && kind != "" && kind != "dumb" && term.IsTerminal(int(f.Fd()))
}

// sizeOf is the size of a terminal in characters.
func sizeOf(out io.Writer) (width, height int) {
	if f, ok := out.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}
