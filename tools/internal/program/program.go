// Package program has what the commands of this module share: signals, flags and exit codes.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

// Exit codes.
const (
	Done   = 0
	Failed = 1
	Misuse = 2 // the arguments cannot be used
)

// A Command runs with its arguments. It prints results to out, and progress and problems to errs.
type Command func(ctx context.Context, args []string, out, errs io.Writer) error

// Main runs the command until it ends or is interrupted, and exits.
func Main(name string, command Command) {
	// A write to a pipe without a reader fails instead of killing the program, so that it cleans
	// up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	code := Run(ctx, name, command, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Run runs the command, reports its error on errs, and returns the exit code.
func Run(ctx context.Context, name string, command Command, args []string, out, errs io.Writer) int {
	err := command(ctx, args, out, errs)
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return Done
	case errors.As(err, &usage):
		fmt.Fprintf(errs, "%s: %v\n%s --help explains the flags.\n", name, err, name)
		return Misuse
	default:
		fmt.Fprintf(errs, "%s: %s\n", name, explain(err))
		return Failed
	}
}

// explain returns the text of an error, with advice if the database cannot be reached.
func explain(err error) string {
	var dial *net.OpError
	var lookup *net.DNSError
	if errors.As(err, &dial) || errors.As(err, &lookup) {
		return fmt.Sprintf("%v\nthe database cannot be reached: check DYNAMODB_ENDPOINT, if it is set", err)
	}
	return err.Error()
}
