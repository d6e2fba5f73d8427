package main

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// bound makes a flag refuse bad values while it is parsed: before anything is asked or sent.
func bound(flags *pflag.FlagSet, name, problem string, fits func() bool) {
	f := flags.Lookup(name)
	f.Value = &boundValue{f.Value, problem, fits}
	if f.DefValue == "0s" {
		f.DefValue = "" // help leaves it out
	}
}

// A boundValue checks the value of a flag.
type boundValue struct {
	pflag.Value
	problem string
	fits    func() bool // reports whether the new value is good
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

// outOfBounds says why a well-formed value is no good.
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

// negativePartition explains an error about a flag that was meant as a partition: a number with a
// dash before it.
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

// noTable marks commands that ignore the flags about the table.
const noTable = "no table"

func withoutTable() map[string]string { return map[string]string{noTable: "yes"} }

// usage prints cobra's usage, but shows boolean flags by their names alone, and leaves out the
// flags that the command ignores.
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

// A switchValue makes help show a boolean flag without a value.
type switchValue struct{ pflag.Value }

func (switchValue) Type() string { return "boolfunc" }

func (switchValue) IsBoolFlag() bool { return true }
