package program

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// A usageError says what is wrong with the arguments.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

// Misused returns an error about the arguments.
func Misused(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// Flags returns an empty set of flags. With --help, the command prints about and the flags to out.
func Flags(name, about string, out io.Writer) *pflag.FlagSet {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprintf(out, "%s\n\nUsage:\n  %s [flags]\n\nFlags:\n%s", about, name, flags.FlagUsages())
	}
	return flags
}

// Parse reads the arguments, of which all must be flags.
func Parse(flags *pflag.FlagSet, args []string) error {
	err := flags.Parse(args)
	switch {
	case err == pflag.ErrHelp:
		return err
	case err != nil:
		return Misused("%v", err)
	case flags.NArg() > 0:
		return Misused("unexpected argument %q", flags.Arg(0))
	}
	return nil
}
