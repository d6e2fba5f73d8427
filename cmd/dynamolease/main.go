// Command dynamolease works with leases that are kept in a DynamoDB table.
//
//	dynamolease demo    four processes share work through leases, and two of them come to grief
//	dynamolease help    lists the commands
//
// Each command explains itself with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A pipe that nobody reads any more becomes an error of the write, so that the program cleans up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A command is one of the program's subcommands.
type command struct {
	name    string
	summary string // empty for one that people do not call
	run     func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"demo", "four processes share work through leases, and two of them come to grief", runDemo},
		{"demo-worker", "", runDemoWorker},
	}
}

// errUsage is returned when the arguments cannot be used, which was explained on stderr.
var errUsage = errors.New("see -h")

// run runs the program, and returns its exit code: 0, 1 for what went wrong, 2 for arguments that cannot be used.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return 0
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return exitCode(c, c.run(ctx, args[1:], stdout, stderr), stderr)
		}
	}
	fmt.Fprintf(stderr, "dynamolease: there is no command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func exitCode(c command, err error, stderr io.Writer) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	default:
		fmt.Fprintf(stderr, "dynamolease %s: %v\n", c.name, err)
		return 1
	}
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Usage: dynamolease COMMAND [FLAGS]\n\nCommands:\n")
	for _, c := range commands() {
		if c.summary != "" {
			fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
		}
	}
	fmt.Fprint(w, "\n\"dynamolease COMMAND -h\" explains a command.\n")
}
