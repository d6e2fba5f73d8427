package main

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// bound has a flag refuse values that cannot be used when it is parsed: before anything is asked or sent.
func bound(flags *pflag.FlagSet, name, problem string, fits func() bool) {
	f := flags.Lookup(name)
	f.Value = &boundValue{f.Value, problem, fits}
	if f.DefValue == "0s" {
		f.DefValue = "" // so that help leaves it out
	}
}

// A boundValue is the value of a flag that is checked.
type boundValue struct {
	pflag.Value
	problem string
	fits    func() bool // of what Value was set to
}

func (v *boundValue) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return err
	}
	if !v.fits() {
		return outOfBounds(v.problem)
	}
	return nil
}

// outOfBounds is why a value that can be read cannot be used.
type outOfBounds string

func (e outOfBounds) Error() string { return string(e) }

// flagError says what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	if problem := negativePartition(c, err); problem != nil {
		return problem
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return misuse("%v", err)
	}
	name, value := invalid.GetFlag().Name, invalid.GetValue()
	if problem := outOfBounds(""); errors.As(err, &problem) {
		return misuse("--%s %s", name, problem)
	}
	switch invalid.GetFlag().Value.Type() {
	case "int":
		return misuse("--%s %q is not a whole number", name, value)
	case "duration":
		return misuse("--%s %q is not a duration such as 30s or 5m", name, value)
	case "bool":
		return misuse("--%s %q is not true or false", name, value)
	}
	return misuse("%v", err)
}

// negativePartition is what is wrong where the number of a partition was taken for a flag, since it begins with a dash.
func negativePartition(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || !strings.Contains(c.Use, "PARTITION") {
		return nil
	}
	after := unknown.GetSpecifiedShortnames()
	if after == "" || !unicode.IsDigit(rune(after[0])) {
		return nil
	}
	return misuse("PARTITION must be 0 or more, not -%s", after)
}

// noTable is the annotation of commands that do not look at the flags that say where the table is.
const noTable = "no table"

func withoutTable() map[string]string { return map[string]string{noTable: "yes"} }

// usage is the usual one, in which a flag that is on or off is shown by its name alone, and one that a command does not look at is
// left out.
func usage(c *cobra.Command) error {
	var restore []func()
	show := func(f *pflag.Flag) {
		if value := f.Value; value.Type() == "bool" {
			f.Value = switchValue{value}
			restore = append(restore, func() { f.Value = value })
		}
	}
	c.LocalFlags().VisitAll(show)
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		show(f)
		if c.Annotations[noTable] != "" && f.Name != "json" {
			f.Hidden = true
			restore = append(restore, func() { f.Hidden = false })
		}
	})
	err := new(cobra.Command).UsageFunc()(c)
	for _, f := range restore {
		f()
	}
	return err
}

// A switchValue is a bool as help shows it.
type switchValue struct{ pflag.Value }

func (switchValue) Type() string { return "boolfunc" }

func (switchValue) IsBoolFlag() bool { return true }
