package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

// onTable returns a command that works on the table. It shows the report, also with an error.
func (p *program) onTable(f func(ctx context.Context, c *connection, args []string) (operate.Report, error)) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		ctx := command.Context()
		c, err := p.connect(ctx)
		if err != nil {
			return err
		}
		defer c.close()
		report, err := f(ctx, c, args)
		if report == nil || errors.Is(err, operate.ErrNotFound) && !p.json {
			return err
		}
		return errors.Join(err, p.show(report))
	}
}

// look returns an onTable command that reads the table once.
func (p *program) look(f func(ctx context.Context, c *connection, args []string) (operate.Report, error)) func(*cobra.Command, []string) error {
	return p.onTable(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
		var report operate.Report
		err := p.inTime(ctx, func(ctx context.Context) (err error) {
			report, err = f(ctx, c, args)
			return err
		})
		return report, err
	})
}

// inTime bounds one read of the table, or one order, by --timeout.
func (p *program) inTime(ctx context.Context, f func(context.Context) error) error {
	return operate.Within(ctx, "--timeout", p.timeout, f)
}

func (p *program) show(report operate.Report) error {
	if p.json {
		return p.encode(report)
	}
	if _, err := io.WriteString(p.out, report.Text()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func (p *program) encode(v any) error {
	e := json.NewEncoder(p.out)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
