package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Style says how Run shows what it sees.
type Style int

const (
	Lines Style = iota // a line for each change, for files and pipes
	JSON               // a line for each change, as JSON
	Mono               // a picture that fills the terminal, without colours
	Color              // a picture that fills the terminal
)

// Config says what Run watches, and how it shows that.
type Config struct {
	Store    *dynamolease.Store
	Meter    *Meter // gets the requests of Store
	Service  string
	Groups   []string // default to those that the members list
	Interval time.Duration
	Look     time.Duration // bounds one look: --timeout

	Style Style
	Out   io.Writer // a terminal, for a picture
	In    io.Reader // the keys of a terminal, for a picture; nil for none

	options []tea.ProgramOption
}

// Run watches until ctx ends or the user quits, and then leaves the terminal as it was: that is no
// error. If a look fails, Run shows that and looks again. It returns an error if the first look
// fails, if the table or an argument cannot be used, or if the output fails.
func Run(ctx context.Context, cfg Config) (err error) {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	l := newLooker(cfg)
	latest, err := l.bounded(ctx, cfg.Look)
	if err != nil {
		return ended(ctx, err)
	}
	v := newView(cfg, quit)
	defer func() { err = errors.Join(err, v.close()) }()
	ticker := time.NewTicker(cfg.Interval)
	defer ticker.Stop()
	for {
		if err := v.show(latest); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if latest, err = l.again(ctx, cfg.Look, latest); err != nil {
				return ended(ctx, err)
			}
		}
	}
}

// ended returns the error of a look, and nil if ctx has ended: then any look fails.
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

// again looks again. If that fails, it returns what was seen before, with the reason.
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

// A view shows snapshots until it is closed.
type view interface {
	show(*snapshot) error
	close() error
}

func newView(cfg Config, quit func()) view {
	switch cfg.Style {
	case JSON:
		return &jsonLines{out: cfg.Out}
	case Lines:
		return &lines{out: cfg.Out}
	default:
		return newScreen(cfg, quit)
	}
}
