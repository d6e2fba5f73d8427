// Command demo shows what the library promises; see package demo. It starts its workers as
// processes of this program.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/dynamolease/dynamolease/tools/internal/demo"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

// errOff reports a figure of the demo that is not what it must be.
var errOff = errors.New("the figures are off")

func main() { program.Main("demo", start) }

// start runs a worker if the first argument says so, and otherwise the demo.
func start(ctx context.Context, args []string, out, errs io.Writer) error {
	if len(args) > 0 && args[0] == workerArgument {
		return work(ctx, args[1:], errs)
	}
	return run(ctx, args, out, errs)
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	cfg, json, err := parse(ctx, args, out, errs)
	if err != nil {
		return err
	}
	v, err := demo.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if err := print(out, v, json); err != nil {
		return err
	}
	if !v.OK() {
		return errOff
	}
	return nil
}
