// Command dynamolease shows the leases in a DynamoDB table, and takes leases from their holders on
// request.
//
//	dynamolease help
//
// lists the commands; each explains itself with --help. See docs/command.md.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	// A write to a pipe without a reader fails instead of killing the program, so that it cleans
	// up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, asks: term.IsTerminal(int(os.Stdin.Fd()))}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// A program is one run of the command.
type program struct {
	in       io.Reader
	out, err io.Writer
	asks     bool // a user at a terminal can answer questions
	settings
}

// run runs the program, and returns its exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	p.report(command, err)
	return exitCode(err)
}
