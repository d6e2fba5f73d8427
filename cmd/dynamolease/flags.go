package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// newFlags returns the flags of a command, which explain themselves with text.
func newFlags(name, text string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: dynamolease %s [FLAGS]\n\n%s\nFlags:\n", name, text)
		flags.PrintDefaults()
	}
	return flags
}

// parse parses args, of which none may be left over. The error is flag.ErrHelp or errUsage.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return errUsage // the flag package has explained it
	case flags.NArg() > 0:
		return misuse(flags, "unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// misuse explains what is wrong with the arguments.
func misuse(flags *flag.FlagSet, format string, args ...any) error {
	fmt.Fprintf(flags.Output(), "dynamolease %s: %s; see -h\n", flags.Name(), fmt.Sprintf(format, args...))
	return errUsage
}
