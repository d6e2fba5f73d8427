package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	tableVariable    = "DYNAMOLEASE_TABLE"
	graceVariable    = "DYNAMOLEASE_GRACE"
	segmentsVariable = "DYNAMOLEASE_SEGMENTS"
	limitVariable    = "DYNAMOLEASE_LIMIT"

	maxGrace    = 365 * 24 * time.Hour
	maxSegments = 16
	maxLimit    = 1_000_000_000
)

// settings hold the values of the environment.
type settings struct {
	table string
	reap  dynamolease.ReapConfig
}

// A configurationError lists all problems of the configuration. Lambda shows the name of the type.
type configurationError []string

func (e configurationError) Error() string { return strings.Join(e, "; ") }

// readSettings reads the variables that the package documentation lists. The error is a
// configurationError.
func readSettings(getenv func(string) string) (settings, error) {
	tableName := regexp.MustCompile(`^([A-Za-z0-9_.-]{3,255}|arn:[a-z0-9-]+:dynamodb:[^:]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255})$`)
	r := reader{getenv: getenv}
	s := settings{
		table: getenv(tableVariable),
		reap: dynamolease.ReapConfig{
			Grace:    r.duration(graceVariable, maxGrace),
			Segments: r.number(segmentsVariable, maxSegments),
			Limit:    r.number(limitVariable, maxLimit),
		},
	}
	switch {
	case s.table == "":
		r.problem("%s is not set: it must be the name or the ARN of the table", tableVariable)
	case !tableName.MatchString(s.table):
		r.problem("%s is %q: it must be the name of a table (3 to 255 letters, digits, and _ . -) or its ARN", tableVariable, s.table)
	}
	if r.problems != nil {
		return settings{}, r.problems
	}
	return s, nil
}

// A reader reads variables and collects their problems.
type reader struct {
	getenv   func(string) string
	problems configurationError
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// duration reads a duration from 0 to max. It returns 0 if there is none.
func (r *reader) duration(name string, max time.Duration) time.Duration {
	text := r.getenv(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > max {
		r.problem(`%s is %q: it must be a duration from 0s to %gh, such as "90m"`, name, text, max.Hours())
		return 0
	}
	return d
}

// number reads a whole number from 1 to max. It returns 0 if there is none.
func (r *reader) number(name string, max int) int {
	text := r.getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > max {
		r.problem("%s is %q: it must be a whole number from 1 to %d", name, text, max)
		return 0
	}
	return n
}
