package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Style is how it is shown.
type Style int

const (
	Lines Style = iota // a line for each change, for files and pipes
	JSON               // likewise, as JSON
	Mono               // a picture that moves, without colours
	Color              // a picture that moves
)

// Config says what is watched, and how it is shown.
type Config struct {
	Store    *dynamolease.Store
	Meter    *Meter // that the store tells
	Service  string
	Groups   []string // defaults to those that the members list
	Interval time.Duration
	Look     time.Duration // the longest that one look may take: --timeout

	Style   Style
	Out     io.Writer
	Size    func() (width, height int) // of the terminal, in characters; for a picture
	Resized <-chan os.Signal           // tells that Size may give something else; for a picture
}

// Run watches until ctx ends, and then leaves the terminal as it was: that is no error. A look that fails is shown, and tried
// again; the error is that of the first look, of the table or an argument, or of the output.
func Run(ctx context.Context, cfg Config) (err error) {
	v := newView(cfg)
	l := newLooker(cfg)
	latest, err := l.bounded(ctx, cfg.Look)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := v.show(latest); err != nil {
		return err
	}
	ticker := time.NewTicker(cfg.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-cfg.Resized:
			v.resize()
		case <-ticker.C:
			if latest, err = l.again(ctx, cfg.Look, latest); err != nil {
				return ended(ctx, err)
			}
		}
		if err := v.show(latest); err != nil {
			return err
		}
	}
}

// ended is nil if ctx has, whatever that made of the look.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (l *looker) bounded(ctx context.Context, limit time.Duration) (s *snapshot, err error) {
	err = operate.Within(ctx, "--timeout", limit, func(ctx context.Context) error {
		s, err = l.look(ctx)
		return err
	})
	return s, err
}

// again looks again. What was seen before is still shown when that fails, with the reason.
func (l *looker) again(ctx context.Context, limit time.Duration, before *snapshot) (*snapshot, error) {
	s, err := l.bounded(ctx, limit)
	var setup *dynamolease.SetupError
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil, errors.As(err, &setup):
		return nil, err
	}
	stale := *before
	stale.first, stale.Moves, stale.Units, stale.Error = false, []move{}, l.meter.Units(), err.Error()
	return &stale, nil
}

// A view shows snapshots.
type view interface {
	show(*snapshot) error
	resize()
	close() error
}

func newView(cfg Config) view {
	switch cfg.Style {
	case JSON:
		return &jsonLines{out: cfg.Out}
	case Lines:
		return &lines{out: cfg.Out}
	default:
		return &screen{out: cfg.Out, size: cfg.Size, color: cfg.Style == Color}
	}
}
