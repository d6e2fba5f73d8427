package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The library has the same bounds, but checks them only when it is called.
const (
	maxName      = 255
	maxPartition = 9_999_999_999
)

// takes returns a check for a command with exactly these arguments. It refuses bad arguments before
// anything is asked or sent. A last name such as GROUP... stands for any number of arguments.
func takes(names ...string) cobra.PositionalArgs {
	rest := ""
	if n := len(names); n > 0 && strings.HasSuffix(names[n-1], "...") {
		names, rest = names[:n-1], strings.TrimSuffix(names[n-1], "...")
	}
	return func(_ *cobra.Command, args []string) error {
		for i, name := range names {
			if i >= len(args) {
				return misuse("%s is missing", name)
			}
			if err := checkArgument(name, args[i]); err != nil {
				return err
			}
		}
		for _, arg := range args[len(names):] {
			if rest == "" {
				return misuse("unexpected argument %q", arg)
			}
			if err := checkArgument(rest, arg); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkArgument(name, value string) error {
	problem := ""
	switch name {
	case "GROUP", "SERVICE":
		problem = wrongName(value)
	case "NODE":
		if problem = wrongName(value); strings.Contains(value, "#") {
			problem = "must not contain '#', which separates a node from its session: give what is before it"
		}
	case "PARTITION":
		if _, err := parsePartition(value); err != nil {
			problem = err.Error()
		}
	}
	if problem != "" {
		return misuse("%s %s", name, problem)
	}
	return nil
}

// wrongName says what is wrong with a name that becomes part of a key. It returns "" for a good
// name.
func wrongName(value string) string {
	switch {
	case value == "":
		return "must not be empty"
	case len(value) > maxName:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(value), maxName)
	case !utf8.ValidString(value):
		return "must be valid UTF-8"
	}
	return ""
}

func parsePartition(value string) (int, error) {
	partition, err := strconv.Atoi(value)
	if err != nil || partition < 0 || int64(partition) > maxPartition {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", value, int64(maxPartition))
	}
	return partition, nil
}
