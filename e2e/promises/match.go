package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// candidate matches text that may be the number of a promise. "CRC32" contains none: see numbersIn.
var candidate = regexp.MustCompile(`(LS|PL|CO)[0-9]+|C[0-9][0-9]`)

// numbersIn returns the numbers of promises in a test's name. A capital before a number, or a digit
// after it, makes it part of another word.
func numbersIn(name string) []string {
	var numbers []string
	for _, at := range candidate.FindAllStringIndex(name, -1) {
		if before := []rune(name[:at[0]]); len(before) > 0 && unicode.IsUpper(before[len(before)-1]) {
			continue
		}
		if after := name[at[1]:]; after != "" && unicode.IsDigit(rune(after[0])) {
			continue
		}
		if number := name[at[0]:at[1]]; !slices.Contains(numbers, number) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// A coverage lists the tests of each promise.
type coverage struct {
	promises []promise
	tests    map[string][]test
	unknown  []string // numbers in tests' names that belong to no promise, each with its test
}

func match(promises []promise, tests []test) coverage {
	c := coverage{promises: promises, tests: make(map[string][]test)}
	known := make(map[string]bool)
	for _, p := range promises {
		known[p.number] = true
	}
	for _, t := range tests {
		for _, number := range numbersIn(t.name) {
			if known[number] {
				c.tests[number] = append(c.tests[number], t)
			} else {
				c.unknown = append(c.unknown, fmt.Sprintf("%s in %v", number, t))
			}
		}
	}
	return c
}

// problem returns an error that names the promises without a test and the numbers without a
// promise. It returns nil if there are none.
func (c coverage) problem() error {
	var problems []string
	for _, p := range c.promises {
		if len(c.tests[p.number]) == 0 {
			problems = append(problems, "no test for "+p.number+": "+p.text)
		}
	}
	for _, number := range c.unknown {
		problems = append(problems, "no promise "+number)
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("promises and tests do not match:\n%s", strings.Join(problems, "\n"))
}
