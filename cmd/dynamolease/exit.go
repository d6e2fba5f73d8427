package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// Exit codes; rootHelp and docs/command.md say the same.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2 // bad arguments
	exitNotFound = 3 // no such lease, node, service or table
	exitRefused  = 4 // the user did not confirm
	exitOpen     = 5 // ordered and not done yet, or perhaps done
)

// A usageError says what is wrong with the arguments.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

func misuse(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errNotConfirmed says that the user did not answer yes, or that there was no terminal to ask on.
var errNotConfirmed = errors.New("not confirmed, nothing was changed")

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	var usage *usageError
	var argument *dynamolease.ArgumentError
	var missing *types.ResourceNotFoundException
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &argument):
		return exitUsage
	case errors.Is(err, operate.ErrNotFound), errors.As(err, &missing):
		return exitNotFound
	case errors.Is(err, errNotConfirmed):
		return exitRefused
	case errors.Is(err, operate.ErrPending), errors.Is(err, dynamolease.ErrUnknownOutcome):
		return exitOpen
	default:
		return exitFailed
	}
}

// harmless returns text without control characters: names from the table must not control the
// terminal.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// report tells the user on stderr what went wrong, and what to do about it.
func (p *program) report(command *cobra.Command, err error) {
	fmt.Fprintf(p.err, "%s: %s\n", command.CommandPath(), harmless(p.explain(err)))
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(p.err, "%s --help explains it.\n", command.CommandPath())
	}
}
